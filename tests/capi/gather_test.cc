// SPDX-License-Identifier: MIT
//
// The one-shot calls: refusals with their texts and an untouched output, then results.
#include <cmath>
#include <limits>

#include "helpers.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// gather of two rows out of three.
class CapiGather : public testing::Test {
 protected:
  void expect_refused(const std::string& text, sheaf_status status = SHEAF_INVALID_ARGUMENT) {
    EXPECT_EQ(sheaf_gather(data, indices, output, &options), status);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(sheaf_last_error(), testing::StartsWith("gather: "));
    EXPECT_THAT(output.values, Each(-1));
  }
  void expect_rows(const std::vector<float>& rows) {
    ASSERT_EQ(sheaf_gather(data, indices, output, &options), SHEAF_OK) << sheaf_last_error();
    EXPECT_EQ(output.values, rows);
  }

  Values<float> data{{10, 11, 20, 21, 30, 31}, {3, 2}};
  Values<int64_t> indices{{2, 0}, {2}};
  Values<float> output{{-1, -1, -1, -1}, {2, 2}};
  sheaf_gather_options options = {};
};

TEST_F(CapiGather, NullTensors) {
  EXPECT_EQ(sheaf_gather(nullptr, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "gather: null tensor\n"
               "  data: the pointer to the DLTensor is null\n"
               "  data is missing\n"
               "  try: a tensor");
  EXPECT_EQ(sheaf_gather(data, nullptr, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_gather(data, indices, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_gather_elements(nullptr, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("gather_elements: null tensor"));
  EXPECT_EQ(sheaf_gather_nd(nullptr, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("gather_nd: null tensor"));
}

TEST_F(CapiGather, NullData) {
  data.tensor.data = nullptr;
  data.tensor.byte_offset = 64;
  expect_refused("null pointer\n  data has elements, but its pointer is null");
}

TEST_F(CapiGather, WholeTextOfABadIndex) {
  indices.values = {2, 7};
  expect_refused(
      "gather: index out of range\n"
      "  indices[1] = 7, but axis 0 of data has 3 entries (allowed -3..2); "
      "1 of 2 indices are out of range\n"
      "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
      "  try: ",
      SHEAF_INDEX_OUT_OF_RANGE);
  indices.values = {-4, 7};
  expect_refused("indices[0] = -4, ", SHEAF_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiGather, HostileShapes) {
  data.shape = {3, -2};
  expect_refused("negative size\n  data.sizes[1] = -2");
  data.shape = {int64_t{1} << 32, int64_t{1} << 32};
  expect_refused("the sizes of data multiply to more than 2^63 - 1");
  data.shape = {3, INT64_MAX / 8};
  expect_refused("the strides of data reach further than 2^63 - 1 bytes");
  data.shape = {INT64_MIN, INT64_MIN};
  expect_refused("negative size\n  data.sizes[0] = -9223372036854775808");
  data.shape = {3, 2};
  data.tensor.ndim = 33;
  expect_refused("rank out of range");
  data.tensor.ndim = -1;
  expect_refused("rank out of range");
}

TEST_F(CapiGather, HostileStrides) {
  for (const int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 2}) {
    data.strides = {stride, 1};
    data.tensor.strides = data.strides.data();
    expect_refused("the strides of data reach further than 2^63 - 1 bytes");
  }
}

TEST_F(CapiGather, OutputOfTheWrongShape) {
  output.shape = {2, 1};
  expect_refused("output is [2, 1], but this call makes [2, 2]");
  output.shape = {2, 2};
  output.strides = {0, 1};
  output.tensor.strides = output.strides.data();
  expect_refused("output overlaps itself");
}

TEST_F(CapiGather, OutputOfTheWrongType) {
  output.tensor.dtype = {kDLInt, 32, 1};
  expect_refused("types differ\n  output is int32, but data is float32");
  // Both are elements of two bytes to the plan; only DLPack's own words tell them apart.
  data.tensor.dtype = {kDLUInt, 8, 2};
  output.tensor.dtype = {kDLInt, 8, 2};
  expect_refused("types differ\n  output is int8 x2, but data is uint8 x2");
}

TEST_F(CapiGather, IndicesThatAreNoIntegers) {
  indices.tensor.dtype = {kDLFloat, 64, 1};
  expect_refused("indices are not integers\n  indices is f64");
  indices.tensor.dtype = {kDLInt, 32, 2};
  expect_refused("indices are not integers\n  indices is opaque8");
}

TEST_F(CapiGather, OutputThatOverlapsAnInput) {
  output.tensor.data = data.values.data();
  expect_refused("output and data share memory");
  output.tensor.data = indices.values.data();
  expect_refused("output and indices share memory");
}

TEST_F(CapiGather, TensorOnADevice) {
  output.tensor.device = {kDLROCM, 1};
  expect_refused("gather: no such device\n  output: DLPack device type 10");
}

TEST_F(CapiGather, UnknownOptions) {
  options.rule.negative = 3;
  expect_refused("unknown option\n  rule.negative = 3, but 0..2 has a meaning");
  options.rule.negative = -1;
  expect_refused("rule.negative = -1");
  options.rule.negative = 0;
  options.rule.out_of_range = 7;
  expect_refused("rule.out_of_range = 7, but 0..6 has a meaning");
  options.rule.out_of_range = SHEAF_FILL;
  options.rule.fill_value.kind = 4;
  expect_refused("rule.fill_value.kind = 4, but 0..3 has a meaning");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data f32[3, 2]   indices i64[2]   axis 0   output"));
}

TEST_F(CapiGather, AxisOutOfRange) {
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    options.axis = axis;
    expect_refused("axis out of range\n  axis = " + std::to_string(axis));
  }
}

TEST_F(CapiGather, BatchDimsOutOfRange) {
  for (const int64_t batch_dims : {int64_t{1}, int64_t{10}, int64_t{-2}, INT64_MAX, INT64_MIN}) {
    options.batch_dims = batch_dims;
    expect_refused("batch_dims out of range\n  batch_dims = " + std::to_string(batch_dims));
  }
}

TEST_F(CapiGather, FillValueThatDoesNotFit) {
  options.rule.out_of_range = SHEAF_FILL;
  options.rule.fill_value = sheaf_complex(1, 2);
  expect_refused("fill_value does not fit");
}

TEST_F(CapiGather, NullOptionsAreTheDefaults) {
  indices.values = {-1, 0};
  ASSERT_EQ(sheaf_gather(data, indices, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(30, 31, 10, 11));
}

TEST_F(CapiGather, EveryRule) {
  indices.values = {-1, 4};
  options.rule.out_of_range = SHEAF_CLAMP;
  expect_rows({30, 31, 30, 31});
  options.rule.out_of_range = SHEAF_WRAP;
  expect_rows({30, 31, 20, 21});
  options.rule.out_of_range = SHEAF_FILL;
  expect_rows({30, 31, 0, 0});
  options.rule.fill_value = sheaf_float(-0.5);
  expect_rows({30, 31, -0.5, -0.5});
  options.rule.negative = SHEAF_NEGATIVE_OUT_OF_RANGE;
  options.rule.fill_value = sheaf_int(-3);
  expect_rows({-3, -3, -3, -3});
  options.rule.fill_value = sheaf_uint(3);
  expect_rows({3, 3, 3, 3});
  options.rule.fill_value = sheaf_complex(4, 0);
  expect_rows({4, 4, 4, 4});
  options.rule.out_of_range = SHEAF_CLAMP;
  expect_rows({10, 11, 30, 31});
  options.rule.negative = SHEAF_NEGATIVE_FROM_END;
  indices.values = {-1, 2};
  options.rule.out_of_range = SHEAF_TRUST;
  expect_rows({30, 31, 30, 31});
  options.rule.out_of_range = SHEAF_FAIL;
  expect_rows({30, 31, 30, 31});
}

TEST_F(CapiGather, AxisAndStrides) {
  data.shape = {2, 3};
  data.strides = {1, 2};  // the transpose
  data.tensor.strides = data.strides.data();
  options.axis = -1;
  expect_rows({30, 10, 31, 11});
}

TEST_F(CapiGather, ByteOffset) {
  data.shape = {2, 2};
  data.tensor.byte_offset = 2 * sizeof(float);
  indices.values = {1, 0};
  expect_rows({30, 31, 20, 21});
}

TEST_F(CapiGather, BatchDims) {
  data.shape = {2, 3};
  indices.values = {2, 1, 0, 1};
  indices.shape = {2, 2};
  indices.tensor.ndim = 2;
  indices.tensor.shape = indices.shape.data();
  indices.tensor.data = indices.values.data();
  options.axis = 1;
  options.batch_dims = 1;
  expect_rows({20, 11, 21, 30});
}

TEST_F(CapiGather, LanesAreOneElement) {
  data.tensor.dtype = output.tensor.dtype = {kDLFloat, 32, 2};
  data.shape = {3};
  output.shape = {2};
  data.tensor.ndim = output.tensor.ndim = 1;
  expect_rows({30, 31, 10, 11});
}

TEST_F(CapiGather, EmptyTensorsNeedNoMemory) {
  indices.shape = {0};
  output.shape = {0, 2};
  indices.tensor.data = output.tensor.data = nullptr;
  EXPECT_EQ(sheaf_gather(data, indices, output, nullptr), SHEAF_OK) << sheaf_last_error();
}

TEST(CapiGatherElements, ResultsAndBroadcast) {
  Values<int32_t> data({1, 2, 3, 4}, {2, 2});
  Values<int16_t> indices({1, 0, 0, 0}, {2, 2});
  Values<int32_t> output({0, 0, 0, 0}, {2, 2});
  sheaf_gather_elements_options options = {};
  options.axis = 1;
  ASSERT_EQ(sheaf_gather_elements(data, indices, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(2, 1, 3, 3));

  Values<int16_t> row({1, 0}, {1, 2});
  EXPECT_EQ(sheaf_gather_elements(data, row, output, &options), SHEAF_INVALID_ARGUMENT);
  options.broadcast = 1;
  ASSERT_EQ(sheaf_gather_elements(data, row, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(2, 1, 4, 3));
}

TEST(CapiGatherNd, ResultsAndBatchDims) {
  Values<double> data({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  Values<uint8_t> indices({1, 0, 0, 1}, {2, 2});
  Values<double> output({0, 0, 0, 0}, {2, 2});
  ASSERT_EQ(sheaf_gather_nd(data, indices, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(5, 6, 3, 4));

  Values<double> pair({0, 0}, {2});
  sheaf_gather_nd_options options = {};
  options.batch_dims = 1;
  ASSERT_EQ(sheaf_gather_nd(data, indices, pair, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(pair.values, ElementsAre(3, 6));
}

// Windows of one row and two columns out of [3, 4].
class CapiXlaGather : public testing::Test {
 protected:
  CapiXlaGather() {
    options.offset_dims = {&one, 1};
    options.collapsed_slice_dims = {&zero, 1};
    options.start_index_map = {map.data(), 2};
    options.index_vector_dim = 1;
    options.slice_sizes = {slice.data(), 2};
  }
  void expect_refused(const std::string& text) {
    EXPECT_EQ(sheaf_xla_gather(data, indices, output, &options), SHEAF_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(output.values, Each(-1));
  }

  int64_t zero = 0;
  int64_t one = 1;
  std::vector<int64_t> map = {0, 1};
  std::vector<int64_t> slice = {1, 2};
  Values<int32_t> data{{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, {3, 4}};
  Values<int32_t> indices{{2, 1, 0, 9}, {2, 2}};
  Values<int32_t> output{{-1, -1, -1, -1}, {2, 2}};
  sheaf_xla_gather_options options = {};
};

TEST_F(CapiXlaGather, OptionsAreNeeded) {
  EXPECT_EQ(sheaf_xla_gather(data, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "xla_gather: null pointer\n"
               "  options is null\n"
               "  no tensors were read\n"
               "  try: the dimension numbers and slice sizes");
}

TEST_F(CapiXlaGather, HostileLists) {
  options.slice_sizes.count = -1;
  expect_refused("slice_sizes has the wrong length\n  slice_sizes.count = -1, but 0..32");
  options.slice_sizes.count = INT64_MAX;
  expect_refused("slice_sizes.count = 9223372036854775807");
  options.slice_sizes = {nullptr, 2};
  expect_refused("null pointer\n  slice_sizes.count = 2, but .values is null");
  options.slice_sizes = {slice.data(), 1};
  expect_refused("slice_sizes has the wrong length\n  slice_sizes has 1 entry, but needs 2");
  options.slice_sizes = {slice.data(), 2};
  options.operand_batching_dims = {nullptr, 1};
  expect_refused("operand_batching_dims.count = 1, but .values is null");
  options.operand_batching_dims = {};
  options.start_indices_batching_dims = {&one, 33};
  expect_refused("start_indices_batching_dims.count = 33");
}

TEST_F(CapiXlaGather, ClampsByDefault) {
  ASSERT_EQ(sheaf_xla_gather(data, indices, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(21, 22, 2, 3));
  indices.values = {-5, 1, 1, 0};
  ASSERT_EQ(sheaf_xla_gather(data, indices, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 2, 10, 11));
}

TEST_F(CapiXlaGather, FailsWhereAsked) {
  options.rule.out_of_range = SHEAF_FAIL;
  EXPECT_EQ(sheaf_xla_gather(data, indices, output, &options), SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices[1, 1] = 9, but a window of 2 on axis 1"));
  EXPECT_THAT(output.values, Each(-1));
}

}  // namespace
}  // namespace sheaf::capi_tests
