// SPDX-License-Identifier: MIT
//
// Bags, encoded gathers and gradients through sheaf/c.h: refusals with an untouched output, then
// results.
#include "helpers.h"
#include "helpers/deferred_device.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Two bags of two rows out of three.
class CapiBag : public testing::Test {
 protected:
  CapiBag() {
    table.stored = data;
    tensors.data = &table;
    tensors.indices = indices;
    tensors.segments = offsets;
  }

  void expect_refused(const std::string& text, sheaf_status status = SHEAF_INVALID_ARGUMENT) {
    EXPECT_EQ(sheaf_bag(&tensors, output, &options), status);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(output.values, Each(-1));
  }

  Values<float> data{{1, 2, 3, 4, 5, 6}, {3, 2}};
  Values<int64_t> indices{{0, 2, 1, 1}, {4}};
  Values<int64_t> offsets{{0, 2}, {2}};
  Values<float> weights{{1, 2, 3, 4}, {4}};
  Values<float> output{{-1, -1, -1, -1}, {2, 2}};
  Values<float> gradient{{10, 20, 30, 40}, {2, 2}};
  sheaf_table table = {};
  sheaf_bag_tensors tensors = {};
  sheaf_bag_options options = {};
};

TEST_F(CapiBag, NullsAreRefused) {
  EXPECT_EQ(sheaf_bag(nullptr, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "bag: null pointer\n"
               "  tensors is null\n"
               "  no tensors were read\n"
               "  try: the address of a sheaf_bag_tensors");
  tensors.data = nullptr;
  expect_refused("data is null");
  tensors.data = &table;
  table.stored = nullptr;
  expect_refused("bag: null tensor\n  data: the pointer to the DLTensor is null");
  table.stored = data;
  EXPECT_EQ(sheaf_bag(&tensors, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_plan_bag(&tensors, nullptr, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_bag_plan_run(nullptr, &tensors, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_bag_plan_output(nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_bag_plan_str(nullptr), nullptr);
  sheaf_bag_plan_destroy(nullptr);
}

TEST_F(CapiBag, OptionsWithoutAMeaningAreRefused) {
  options.pool = 256;
  expect_refused("pool = 256, but 0..5 has a meaning");
  options.pool = 0;
  options.form = -1;
  expect_refused("form = -1, but 0..2 has a meaning");
  options.form = 0;
  options.empty_value.kind = 9;
  expect_refused("empty_value.kind = 9, but 0..3 has a meaning");
  options.empty_value.kind = 0;
  options.rule.out_of_range = 99;
  expect_refused("rule.out_of_range = 99");
  options.rule.out_of_range = 0;
  options.struct_size = 8;
  expect_refused("options of another version");
  options.struct_size = sizeof options;
  table.encoding = 24;
  expect_refused("encoding = 24, but 0..23 has a meaning");
  table.encoding = -1;
  expect_refused("encoding = -1, but 0..23 has a meaning");
}

// Codes that differ from those of the plan in one number.
TEST_F(CapiBag, APlanOfOtherCodesIsRefused) {
  Values<uint8_t> codes({1, 2, 3, 4}, {2, 2});
  Values<float> scale({1}, {1});
  int64_t sizes[2] = {2, 2};
  table.encoding = SHEAF_U8;
  table.stored = codes;
  table.scales = scale;
  table.sizes = {sizes, 2};
  indices.values = {0, 1, 1, 0};
  sheaf_bag_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_bag(&tensors, output, nullptr, &plan), SHEAF_OK) << sheaf_last_error();
  const auto expect_other = [&] {
    EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, nullptr), SHEAF_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr("data differs from the plan's\n"));
    EXPECT_THAT(output.values, Each(-1));
  };
  table.encoding = SHEAF_I8;
  expect_other();
  table.encoding = SHEAF_U8;
  sizes[1] = 3;
  expect_other();
  sizes[1] = 2;
  table.block = 1;
  expect_other();
  table.block = 0;
  table.has_axis = 1;
  expect_other();
  table.has_axis = 0;
  table.usual_zero = 1;
  expect_other();
  table.usual_zero = 0;
  EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_EQ(sheaf_bag_plan_output(plan, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is null"));
  sheaf_bag_plan_destroy(plan);
}

TEST_F(CapiBag, SegmentsAndIndicesAreRefused) {
  offsets.values = {1, 2};
  expect_refused("offsets[0] = 1, but the first bag begins at 0");
  offsets.values = {0, INT64_MAX};
  expect_refused("no bag begins behind the last entry");
  offsets.values = {0, 2};
  indices.values[3] = 3;
  expect_refused("bag: index out of range\n  indices[3] = 3", SHEAF_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiBag, SumsRows) {
  ASSERT_EQ(sheaf_bag(&tensors, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(6, 8, 6, 8));
  tensors.weights = weights;
  options.pool = SHEAF_POOL_MEAN;
  ASSERT_EQ(sheaf_bag(&tensors, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(5.5, 7, 10.5, 14));
}

TEST_F(CapiBag, EveryFormOfSegments) {
  Values<int64_t> lengths({4, 0}, {2});
  tensors.segments = lengths;
  options.form = SHEAF_LENGTHS;
  options.empty_value = sheaf_float(-3);
  ASSERT_EQ(sheaf_bag(&tensors, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(12, 16, -3, -3));
  Values<int32_t> ids({0, 1, 1, 1}, {4});
  tensors.segments = ids;
  options.form = SHEAF_IDS;
  options.bags = 2;
  options.has_padding = 1;
  options.padding = -1;
  ASSERT_EQ(sheaf_bag(&tensors, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 2, 6, 8));
  Values<int64_t> matrix({0, 9, 1, 1}, {2, 2});
  tensors.indices = matrix;
  tensors.segments = nullptr;
  options = {};
  options.rule.out_of_range = SHEAF_SKIP;
  ASSERT_EQ(sheaf_bag(&tensors, output, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(1, 2, 6, 8));
}

TEST_F(CapiBag, APlanRunsOften) {
  sheaf_bag_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_bag(&tensors, nullptr, &options, &plan), SHEAF_OK) << sheaf_last_error();
  DLTensor planned;
  ASSERT_EQ(sheaf_bag_plan_output(plan, &planned), SHEAF_OK);
  EXPECT_EQ(planned.ndim, 2);
  EXPECT_EQ(planned.shape[0], 2);
  EXPECT_EQ(planned.dtype.code, kDLFloat);
  EXPECT_THAT(sheaf_bag_plan_str(plan), StartsWith("bag sum in f32, rows of 2 f32"));
  EXPECT_THAT(sheaf_bag_plan_json(plan), StartsWith("{\"op\": \"bag\""));
  sheaf_run_options run = {};
  run.kernel = "reference";
  for (const float first : {1.0F, 2.0F}) {
    data.values[0] = first;
    planned.data = output.values.data();
    ASSERT_EQ(sheaf_bag_plan_run(plan, &tensors, &planned, &run), SHEAF_OK) << sheaf_last_error();
    EXPECT_THAT(output.values, ElementsAre(first + 5, 8, 6, 8));
  }
  Values<int64_t> fewer({0, 1, 2}, {3});
  tensors.indices = fewer;
  EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices differs from the plan's\n"
                                            "  got i64[3], planned for i64[4]"));
  tensors.indices = indices;
  tensors.weights = weights;
  EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("got f32[4], planned for none"));
  tensors.weights = nullptr;
  run.threads = -1;
  EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, &run), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("threads out of range"));
  sheaf_bag_plan_destroy(plan);
}

// On a device that has no kernels for them.
TEST_F(CapiBag, OfAnotherDeviceAreRefused) {
  add_deferred_device();
  sheaf_queue* queue = nullptr;
  sheaf_bag_plan* plan = nullptr;
  ASSERT_EQ(sheaf_queue_device({kDLExtDev, 0}, nullptr, &queue), SHEAF_OK);
  ASSERT_EQ(sheaf_plan_bag(&tensors, output, nullptr, &plan), SHEAF_OK);
  sheaf_run_options run = {};
  run.queue = queue;
  EXPECT_EQ(sheaf_bag_plan_run(plan, &tensors, output, &run), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("bag: queue of another device\n"));
  sheaf_bag_plan_destroy(plan);
  sheaf_queue_destroy(queue);
  for (DLTensor* const tensor :
       {&data.tensor, &indices.tensor, &offsets.tensor, &gradient.tensor, &output.tensor}) {
    tensor->device = {kDLExtDev, 0};
  }
  EXPECT_EQ(sheaf_bag_gradient_data(&tensors, gradient, output, 0, nullptr), SHEAF_UNSUPPORTED);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("no gradients of bags on this device\n"));
  EXPECT_EQ(sheaf_gather_encoded(&table, indices, output, nullptr), SHEAF_UNSUPPORTED);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("no gathers of encoded tables on this device\n"));
}

TEST_F(CapiBag, RunsOnAQueueOfTheHost) {
  sheaf_queue* queue = nullptr;
  sheaf_bag_plan* plan = nullptr;
  ASSERT_EQ(sheaf_queue_host(2, &queue), SHEAF_OK);
  ASSERT_EQ(sheaf_plan_bag(&tensors, output, nullptr, &plan), SHEAF_OK);
  sheaf_run_options run = {};
  run.queue = queue;
  ASSERT_EQ(sheaf_bag_plan_run(plan, &tensors, output, &run), SHEAF_OK) << sheaf_last_error();
  ASSERT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(6, 8, 6, 8));
  sheaf_bag_plan_destroy(plan);
  sheaf_queue_destroy(queue);
}

// Two rows of two codes, with scale and bias behind them.
struct Bytes8 {
  Values<uint8_t> stored{{1, 2, 0, 0, 0,   64, 0, 0, 128, 63,  // scale 2, bias 1
                          3, 4, 0, 0, 128, 63, 0, 0, 0,   0},  // scale 1, bias 0
                         {2, 10}};
  int64_t sizes[2] = {2, 2};
  sheaf_table table = {};
  Bytes8() {
    table.encoding = SHEAF_ROW_U8_F32;
    table.stored = stored;
    table.sizes = {sizes, 2};
  }
};

TEST_F(CapiBag, DecodesTables) {
  const Bytes8 rows;
  tensors.data = &rows.table;
  indices.values = {0, 1, 1, 0};
  ASSERT_EQ(sheaf_bag(&tensors, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(6, 9, 6, 9));
  Values<int64_t> picked({1, 0}, {2});
  ASSERT_EQ(sheaf_gather_encoded(&rows.table, picked, output, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(3, 4, 3, 5));
  Values<int64_t> elements({1, 0}, {1, 2});
  Values<float> row({0, 0}, {1, 2});
  ASSERT_EQ(sheaf_gather_elements_encoded(&rows.table, elements, row, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(row.values, ElementsAre(3, 5));
  Values<int64_t> tuples({1, 1}, {1, 2});
  Values<float> one({0}, {1});
  ASSERT_EQ(sheaf_gather_nd_encoded(&rows.table, tuples, one, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(one.values, ElementsAre(4));
}

TEST_F(CapiBag, EncodedTablesAreRefused) {
  Bytes8 rows;
  Values<int64_t> picked({1, 7}, {2});
  EXPECT_EQ(sheaf_gather_encoded(&rows.table, picked, output, nullptr), SHEAF_INDEX_OUT_OF_RANGE);
  rows.sizes[1] = 3;
  picked.values = {1, 0};
  EXPECT_EQ(sheaf_gather_encoded(&rows.table, picked, output, nullptr), SHEAF_INVALID_ARGUMENT);
  rows.table.sizes.values = nullptr;
  EXPECT_EQ(sheaf_gather_encoded(&rows.table, picked, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sizes.count = 2, but .values is null"));
  EXPECT_EQ(sheaf_gather_encoded(&table, picked, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data is not encoded"));
  EXPECT_THAT(output.values, Each(-1));
}

TEST_F(CapiBag, GradientsOfRows) {
  int64_t count = -1;
  ASSERT_EQ(sheaf_bag_gradient_rows(&tensors, gradient, nullptr, nullptr, &count, nullptr),
            SHEAF_OK)
      << sheaf_last_error();
  EXPECT_EQ(count, 3);
  Values<int64_t> rows({-1, -1, -1, -1}, {4});
  Values<float> values({-1, -1, -1, -1, -1, -1, -1, -1}, {4, 2});
  ASSERT_EQ(sheaf_bag_gradient_rows(&tensors, gradient, rows, values, &count, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(rows.values, ElementsAre(0, 1, 2, -1));
  EXPECT_THAT(values.values, ElementsAre(10, 20, 60, 80, 10, 20, -1, -1));
  Values<int64_t> few({-1, -1}, {2});
  EXPECT_EQ(sheaf_bag_gradient_rows(&tensors, gradient, few, values, &count, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(count, 3);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("no room for the rows in rows\n"
                                            "  rows is i64[2], but the gradient has i64[3]"));
  EXPECT_THAT(few.values, Each(-1));
  EXPECT_EQ(sheaf_bag_gradient_rows(&tensors, gradient, rows, nullptr, &count, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_bag_gradient_rows(&tensors, gradient, rows, values, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
}

TEST_F(CapiBag, GradientsOfTheTableAndOfWeights) {
  data.tensor.data = nullptr;  // not read
  Values<float> whole({1, 1, 1, 1, 1, 1}, {3, 2});
  ASSERT_EQ(sheaf_bag_gradient_data(&tensors, gradient, whole, 0, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(whole.values, ElementsAre(10, 20, 60, 80, 10, 20));
  ASSERT_EQ(sheaf_bag_gradient_data(&tensors, gradient, whole, 1, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(whole.values, ElementsAre(20, 40, 120, 160, 20, 40));
  data.tensor.data = data.values.data();
  tensors.weights = weights;
  Values<float> of_weights({-1, -1, -1, -1}, {4});
  ASSERT_EQ(sheaf_bag_gradient_weights(&tensors, gradient, of_weights, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(of_weights.values, ElementsAre(50, 170, 250, 250));
  tensors.weights = nullptr;
  EXPECT_EQ(sheaf_bag_gradient_weights(&tensors, gradient, of_weights, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), StartsWith("bag_gradient: no weights"));
  EXPECT_EQ(sheaf_bag_gradient_data(&tensors, nullptr, whole, 0, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("gradient: the pointer to the DLTensor is null"));
}

}  // namespace
}  // namespace sheaf::capi_tests
