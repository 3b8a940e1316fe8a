// SPDX-License-Identifier: MIT
//
// The one-shot scatters: refusals with their texts and an untouched output, then results.
#include <cstddef>

#include "helpers.h"

extern "C" sheaf_status add_to_rows(DLTensor* table, DLTensor* rows, DLTensor* gradients);

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// scatter of two rows into three.
class CapiScatter : public testing::Test {
 protected:
  void expect_refused(const std::string& text, sheaf_status status = SHEAF_INVALID_ARGUMENT) {
    EXPECT_EQ(sheaf_scatter(data, indices, updates, output, &options), status);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(sheaf_last_error(), testing::StartsWith("scatter: "));
    EXPECT_THAT(output.values, Each(-1));
  }
  void expect_rows(const std::vector<float>& rows) {
    ASSERT_EQ(sheaf_scatter(data, indices, updates, output, &options), SHEAF_OK)
        << sheaf_last_error();
    EXPECT_EQ(output.values, rows);
  }

  Values<float> data{{10, 11, 20, 21, 30, 31}, {3, 2}};
  Values<int64_t> indices{{2, 0}, {2}};
  Values<float> updates{{1, 2, 3, 4}, {2, 2}};
  Values<float> output{std::vector<float>(6, -1), {3, 2}};
  sheaf_scatter_options options = {};
};

TEST_F(CapiScatter, NullTensors) {
  EXPECT_EQ(sheaf_scatter(nullptr, indices, updates, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "scatter: null tensor\n"
               "  data: the pointer to the DLTensor is null\n"
               "  data is missing\n"
               "  try: a tensor");
  EXPECT_EQ(sheaf_scatter(data, nullptr, updates, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_scatter(data, indices, nullptr, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("updates: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_scatter(data, indices, updates, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_scatter_elements(nullptr, indices, updates, output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("scatter_elements: null tensor"));
  EXPECT_EQ(sheaf_scatter_nd(nullptr, indices, updates, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("scatter_nd: null tensor"));
}

TEST_F(CapiScatter, NullMemory) {
  data.tensor.data = nullptr;
  expect_refused("null pointer\n  data has elements, but its pointer is null");
  data.tensor.data = data.values.data();
  updates.tensor.data = nullptr;
  expect_refused("null pointer\n  updates has elements, but its pointer is null");
}

TEST_F(CapiScatter, WholeTextOfABadIndex) {
  indices.values = {2, 7};
  expect_refused(
      "scatter: index out of range\n"
      "  indices[1] = 7, but axis 0 of data has 3 entries (allowed -3..2); "
      "1 of 2 indices are out of range\n"
      "  data f32[3, 2]   indices i64[2]   updates f32[2, 2]   axis 0   output f32[3, 2]\n"
      "  try: out_of_range = clamp or skip;  picture: sheaf explain 'scatter f32[3,2] "
      "i64[2]={0,7} f32[2,2] axis=0'",
      SHEAF_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiScatter, WrongShapes) {
  updates.shape = {4, 1};
  expect_refused("updates have the wrong shape\n  updates is [4, 1], but this call takes [2, 2]");
  updates.shape = {2, 2};
  output.shape = {2, 3};
  expect_refused("output is [2, 3], but this call makes [3, 2]");
  output.shape = {3, 2};
  options.axis = 2;
  expect_refused("axis out of range");
}

TEST_F(CapiScatter, WrongTypes) {
  updates.tensor.dtype = {kDLInt, 32, 1};
  expect_refused("types differ\n  updates is int32, but data is float32");
  updates.tensor.dtype = {kDLFloat, 32, 1};
  output.tensor.dtype = {kDLInt, 32, 1};
  expect_refused("types differ\n  output is int32, but data is float32");
  // Both are elements of four bytes to the plan; only DLPack's own words tell them apart.
  data.tensor.dtype = output.tensor.dtype = {kDLUInt, 8, 4};
  updates.tensor.dtype = {kDLInt, 8, 4};
  expect_refused("types differ\n  updates is int8 x4, but data is uint8 x4");
  updates.tensor.dtype = {kDLUInt, 8, 4};
  options.reduction = SHEAF_REDUCE_ADD;
  expect_refused("reduction = add on opaque4: opaque elements are only ever copied");
}

TEST_F(CapiScatter, UnknownOptions) {
  options.reduction = 7;
  expect_refused("unknown option\n  reduction = 7, but 0..6 has a meaning");
  options.reduction = -1;
  expect_refused("reduction = -1");
  options.reduction = 0;
  options.rule.out_of_range = 7;
  expect_refused("rule.out_of_range = 7, but 0..6 has a meaning");
  options.rule.out_of_range = SHEAF_FILL;
  expect_refused("index rule of another operator\n  out_of_range = fill, but there is no output");
}

TEST_F(CapiScatter, OutputThatOverlapsAnInput) {
  output.tensor.data = updates.values.data();
  expect_refused("output and updates share memory");
  output.tensor.data = data.values.data() + 1;
  expect_refused("output and data share memory");
}

TEST_F(CapiScatter, NullOptionsAreTheDefaults) {
  indices.values = {-1, 0};
  ASSERT_EQ(sheaf_scatter(data, indices, updates, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(3, 4, 20, 21, 1, 2));
}

TEST_F(CapiScatter, InPlace) {
  ASSERT_EQ(sheaf_scatter(data, indices, updates, data, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(data.values, ElementsAre(3, 4, 20, 21, 1, 2));
}

TEST_F(CapiScatter, EveryReduction) {
  indices.values = {1, 1};
  expect_rows({10, 11, 3, 4, 30, 31});
  options.reduction = SHEAF_REDUCE_ADD;
  expect_rows({10, 11, 24, 27, 30, 31});
  options.reduction = SHEAF_REDUCE_SUB;
  expect_rows({10, 11, 16, 15, 30, 31});
  options.reduction = SHEAF_REDUCE_MUL;
  expect_rows({10, 11, 60, 168, 30, 31});
  options.reduction = SHEAF_REDUCE_MIN;
  expect_rows({10, 11, 1, 2, 30, 31});
  options.reduction = SHEAF_REDUCE_MAX;
  expect_rows({10, 11, 20, 21, 30, 31});
  options.reduction = SHEAF_REDUCE_MEAN;
  expect_rows({10, 11, 8, 9, 30, 31});
}

TEST_F(CapiScatter, ExcludeSelf) {
  indices.values = {1, 1};
  options.exclude_self = 1;
  options.reduction = SHEAF_REDUCE_MAX;
  expect_rows({10, 11, 3, 4, 30, 31});
  options.reduction = SHEAF_REDUCE_MEAN;
  expect_rows({10, 11, 2, 3, 30, 31});
}

TEST_F(CapiScatter, OntoZeros) {
  options.onto_zeros = 1;
  expect_rows({3, 4, 0, 0, 1, 2});
  data.tensor.data = nullptr;  // only its shape is looked at
  expect_rows({3, 4, 0, 0, 1, 2});
  ASSERT_EQ(sheaf_scatter(nullptr, indices, updates, output, &options), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(3, 4, 0, 0, 1, 2));
}

TEST_F(CapiScatter, RulesAndRelaxed) {
  options.relaxed = 1;
  indices.values = {-1, 5};
  options.rule.out_of_range = SHEAF_SKIP;
  expect_rows({10, 11, 20, 21, 1, 2});
  options.rule.out_of_range = SHEAF_CLAMP;
  expect_rows({10, 11, 20, 21, 3, 4});
  options.rule.negative = SHEAF_NEGATIVE_OUT_OF_RANGE;
  expect_rows({1, 2, 20, 21, 3, 4});
  options.rule.negative = SHEAF_NEGATIVE_FROM_END;
  indices.values = {-1, 4};
  options.rule.out_of_range = SHEAF_WRAP;
  expect_rows({10, 11, 3, 4, 1, 2});
}

// 256 + 1 + 1 in bf16, whose step there is 2: every single 1 is rounded away.
TEST(CapiAccumulate, RoundsOnceIfTheStructHasTheField) {
  const uint16_t one = 0x3F80, of_256 = 0x4380, of_258 = 0x4381;
  Values<uint16_t> data{{of_256}, {1}}, updates{{one, one}, {2}}, output{{0}, {1}};
  Values<int64_t> indices{{0, 0}, {2}};
  for (auto* values : {&data, &updates, &output}) {
    values->tensor.dtype = {kDLBfloat, 16, 1};
  }
  sheaf_scatter_options options = {};
  options.reduction = SHEAF_REDUCE_ADD;
  options.accumulate_f32 = 1;
  const auto sum_with_size = [&](size_t size) {
    options.struct_size = size;
    EXPECT_EQ(sheaf_scatter(data, indices, updates, output, &options), SHEAF_OK)
        << sheaf_last_error();
    return output.values[0];
  };
  EXPECT_EQ(sum_with_size(sizeof options), of_258);
  // Callers that were compiled before the field was there.
  EXPECT_EQ(sum_with_size(offsetof(sheaf_scatter_options, accumulate_f32)), of_256);
  EXPECT_EQ(sum_with_size(0), of_256);
  options.struct_size = offsetof(sheaf_scatter_options, accumulate_f32) - 1;
  EXPECT_EQ(sheaf_scatter(data, indices, updates, output, &options), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("options of another version"));
}

TEST(CapiAccumulate, OtherScattersAndTypes) {
  Values<uint16_t> data{{0x4380}, {1}}, updates{{0x3F80, 0x3F80}, {2}}, output{{0}, {1}};
  Values<int64_t> indices{{0, 0}, {2}}, tuples{{0, 0}, {2, 1}};
  for (auto* values : {&data, &updates, &output}) {
    values->tensor.dtype = {kDLBfloat, 16, 1};
  }
  sheaf_scatter_elements_options elements = {};
  elements.struct_size = sizeof elements;
  elements.reduction = SHEAF_REDUCE_ADD;
  elements.accumulate_f32 = 1;
  ASSERT_EQ(sheaf_scatter_elements(data, indices, updates, output, &elements), SHEAF_OK);
  EXPECT_EQ(output.values[0], 0x4381);
  sheaf_scatter_nd_options nd = {};
  nd.struct_size = sizeof nd;
  nd.reduction = SHEAF_REDUCE_ADD;
  nd.accumulate_f32 = 1;
  ASSERT_EQ(sheaf_scatter_nd(data, tuples, updates, output, &nd), SHEAF_OK);
  EXPECT_EQ(output.values[0], 0x4381);
  for (auto* values : {&data, &updates, &output}) {
    values->tensor.dtype = {kDLInt, 16, 1};
  }
  EXPECT_EQ(sheaf_scatter_nd(data, tuples, updates, output, &nd), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("accumulate_f32"));
}

TEST_F(CapiScatter, BatchDimsAndAxis) {
  data.shape = output.shape = {2, 3};
  indices.values = {2, 0};
  indices.shape = {2, 1};
  indices.tensor.ndim = 2;
  indices.tensor.shape = indices.shape.data();
  updates.shape = {2, 1};
  options.axis = -1;
  options.batch_dims = 1;
  expect_rows({10, 11, 1, 2, 30, 31});
}

TEST_F(CapiScatter, TheExampleOfTheManual) {
  indices.values = {1, 7};
  ASSERT_EQ(add_to_rows(&data.tensor, &indices.tensor, &updates.tensor), SHEAF_OK);
  EXPECT_THAT(data.values, ElementsAre(10, 11, 21, 23, 30, 31));
}

TEST(CapiGatherOfSkip, IsRefused) {
  Values<float> data({1, 2}, {2}), output({-1}, {1});
  Values<int32_t> indices({0}, {1});
  sheaf_gather_options options = {};
  options.rule.out_of_range = SHEAF_SKIP;
  EXPECT_EQ(sheaf_gather(data, indices, output, &options), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("index rule of another operator\n  out_of_range = skip"));
}

TEST(CapiScatterElements, Results) {
  Values<int32_t> data({1, 2, 3, 4}, {2, 2});
  Values<int16_t> indices({1, 1, 0, 0}, {2, 2});
  Values<int32_t> updates({10, 20, 30, 40}, {2, 2});
  Values<int32_t> output({0, 0, 0, 0}, {2, 2});
  sheaf_scatter_elements_options options = {};
  options.axis = 1;
  options.reduction = SHEAF_REDUCE_ADD;
  ASSERT_EQ(sheaf_scatter_elements(data, indices, updates, output, &options), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 32, 73, 4));
}

TEST(CapiScatterNd, ResultsAndBatchDims) {
  Values<double> data({1, 2, 3, 4}, {2, 2});
  Values<uint8_t> indices({1, 0}, {1, 2});
  Values<double> updates({9}, {1});
  Values<double> output({0, 0, 0, 0}, {2, 2});
  ASSERT_EQ(sheaf_scatter_nd(data, indices, updates, output, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 2, 9, 4));

  Values<uint8_t> column({1, 0}, {2, 1});
  Values<double> pair({8, 9}, {2});
  sheaf_scatter_nd_options options = {};
  options.batch_dims = 1;
  ASSERT_EQ(sheaf_scatter_nd(data, column, pair, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 8, 9, 4));
}

// Windows of one row and two columns into [3, 4].
class CapiXlaScatter : public testing::Test {
 protected:
  CapiXlaScatter() {
    options.update_window_dims = {&one, 1};
    options.inserted_window_dims = {&zero, 1};
    options.scatter_dims_to_operand_dims = {map.data(), 2};
    options.index_vector_dim = 1;
  }
  void expect_refused(const std::string& text) {
    EXPECT_EQ(sheaf_xla_scatter(data, indices, updates, output, &options), SHEAF_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(output.values, Each(-1));
  }
  void expect_output(const std::vector<int32_t>& expected) {
    ASSERT_EQ(sheaf_xla_scatter(data, indices, updates, output, &options), SHEAF_OK)
        << sheaf_last_error();
    EXPECT_EQ(output.values, expected);
  }

  int64_t zero = 0;
  int64_t one = 1;
  std::vector<int64_t> map = {0, 1};
  Values<int32_t> data{std::vector<int32_t>(12, 0), {3, 4}};
  Values<int32_t> indices{{2, 1, 0, 3}, {2, 2}};
  Values<int32_t> updates{{1, 2, 3, 4}, {2, 2}};
  Values<int32_t> output{std::vector<int32_t>(12, -1), {3, 4}};
  sheaf_xla_scatter_options options = {};
};

TEST_F(CapiXlaScatter, OptionsAreNeeded) {
  EXPECT_EQ(sheaf_xla_scatter(data, indices, updates, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "xla_scatter: null pointer\n"
               "  options is null\n"
               "  no tensors were read\n"
               "  try: the dimension numbers");
}

TEST_F(CapiXlaScatter, HostileLists) {
  options.reduction = 9;
  expect_refused("xla_scatter: unknown option\n  reduction = 9");
  options.reduction = 0;
  options.update_window_dims.count = -1;
  expect_refused("update_window_dims has the wrong length\n  update_window_dims.count = -1");
  options.update_window_dims = {nullptr, 2};
  expect_refused("null pointer\n  update_window_dims.count = 2, but .values is null");
  options.update_window_dims = {&one, 1};
  options.inserted_window_dims.count = INT64_MAX;
  expect_refused("inserted_window_dims.count = 9223372036854775807");
  options.inserted_window_dims = {&zero, 1};
  options.input_batching_dims = {nullptr, 1};
  expect_refused("input_batching_dims.count = 1, but .values is null");
  options.input_batching_dims = {};
  options.scatter_indices_batching_dims = {&one, 33};
  expect_refused("scatter_indices_batching_dims.count = 33");
  options.scatter_indices_batching_dims = {};
  options.scatter_dims_to_operand_dims = {nullptr, 1};
  expect_refused("scatter_dims_to_operand_dims.count = 1, but .values is null");
}

// StableHLO: of a window that is partly outside only the elements outside are left out.
TEST_F(CapiXlaScatter, SkipsByDefault) {
  expect_output({0, 0, 0, 3, 0, 0, 0, 0, 0, 1, 2, 0});
  options.skip_whole_window = 1;
  expect_output({0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0});
  options.rule.out_of_range = SHEAF_CLAMP;
  options.reduction = SHEAF_REDUCE_ADD;
  expect_output({0, 0, 3, 4, 0, 0, 0, 0, 0, 1, 2, 0});
}

}  // namespace
}  // namespace sheaf::capi_tests
