// SPDX-License-Identifier: MIT
#include <memory>

#include "helpers.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class CapiPlan : public testing::Test {
 protected:
  PlanPtr make(const sheaf_gather_options* options = nullptr) {
    sheaf_plan* plan = nullptr;
    EXPECT_EQ(sheaf_plan_gather(data, indices, nullptr, options, &plan), SHEAF_OK)
        << sheaf_last_error();
    return PlanPtr(plan);
  }
  void expect_run_refused(const PlanPtr& plan, const std::string& text) {
    EXPECT_EQ(sheaf_plan_run(plan.get(), data, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(output.values, Each(-1));
  }

  Values<float> data{{10, 11, 20, 21, 30, 31}, {3, 2}};
  Values<int64_t> indices{{2, 0}, {2}};
  Values<float> output{{-1, -1, -1, -1}, {2, 2}};
};

TEST_F(CapiPlan, NullPlans) {
  DLTensor described = {};
  EXPECT_EQ(sheaf_plan_output(nullptr, &described), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "sheaf_plan_output: null pointer\n"
               "  plan is null\n"
               "  no tensors were read\n"
               "  try: a plan that one of the sheaf_plan_* functions made");
  EXPECT_EQ(sheaf_plan_run(nullptr, data, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sheaf_plan_run: null pointer"));
  EXPECT_EQ(sheaf_plan_str(nullptr), nullptr);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sheaf_plan_str: null pointer"));
  EXPECT_EQ(sheaf_plan_json(nullptr), nullptr);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sheaf_plan_json: null pointer"));
  sheaf_plan_destroy(nullptr);
  EXPECT_EQ(sheaf_plan_gather(data, indices, nullptr, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: the address of a sheaf_plan*"));
  EXPECT_EQ(sheaf_plan_output(make().get(), nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is null"));
}

TEST_F(CapiPlan, FailureLeavesNoPlan) {
  auto* plan = reinterpret_cast<sheaf_plan*>(&data);  // garbage that must not stay
  sheaf_gather_options options = {};
  options.axis = 5;
  EXPECT_EQ(sheaf_plan_gather(data, indices, nullptr, &options, &plan), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("gather: axis out of range"));
}

TEST_F(CapiPlan, OtherTensorsThanPlanned) {
  const PlanPtr plan = make();
  output.shape = {4, 1};
  expect_run_refused(plan,
                     "output differs from the plan's\n  got f32[4, 1], planned for f32[2, 2]");
  output.shape = {2, 2};
  data.tensor.dtype = {kDLInt, 32, 1};
  expect_run_refused(plan, "data differs from the plan's\n  got int32, planned for float32");
  data.tensor.dtype = {kDLFloat, 32, 1};
  output.tensor.dtype = {kDLUInt, 8, 4};
  expect_run_refused(plan, "output differs from the plan's\n  got uint8 x4, planned for float32");
  output.tensor.dtype = {kDLFloat, 32, 1};
  indices.tensor.dtype = {kDLUInt, 64, 1};
  expect_run_refused(plan, "indices differs from the plan's\n  got u64[2], planned for i64[2]");
  indices.tensor.dtype = {kDLInt, 64, 1};
  data.tensor.data = nullptr;
  expect_run_refused(plan, "data has elements, but its pointer is null");
}

TEST_F(CapiPlan, RunOptions) {
  const PlanPtr plan = make();
  sheaf_run_options options = {};
  options.threads = -1;
  EXPECT_EQ(sheaf_plan_run(plan.get(), data, indices, output, &options), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("threads out of range\n  threads = -1"));
  options.threads = 1;
  options.kernel = "no such kernel";
  EXPECT_EQ(sheaf_plan_run(plan.get(), data, indices, output, &options), SHEAF_UNSUPPORTED);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("\"no such kernel\" names no gather kernel of this build"));
  EXPECT_THAT(output.values, Each(-1));
  options.kernel = "reference.loops";
  ASSERT_EQ(sheaf_plan_run(plan.get(), data, indices, output, &options), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(30, 31, 10, 11));
}

TEST_F(CapiPlan, RunsOftenOnOtherMemory) {
  data.tensor.data = nullptr;  // a plan needs no memory
  const PlanPtr plan = make();
  data.tensor.data = data.values.data();
  for (int64_t first = 0; first < 3; ++first) {
    indices.values[0] = first;
    const auto row = static_cast<float>(10 * (first + 1));
    ASSERT_EQ(sheaf_plan_run(plan.get(), data, indices, output, nullptr), SHEAF_OK);
    EXPECT_THAT(output.values, ElementsAre(row, row + 1, 10, 11));
  }
  indices.values[0] = 3;
  output.values.assign(4, -1);
  EXPECT_EQ(sheaf_plan_run(plan.get(), data, indices, output, nullptr), SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(output.values, Each(-1));
}

TEST_F(CapiPlan, Output) {
  data.tensor.dtype = {kDLInt, 8, 4};
  const PlanPtr plan = make();
  DLTensor described = {};
  ASSERT_EQ(sheaf_plan_output(plan.get(), &described), SHEAF_OK);
  EXPECT_EQ(described.data, nullptr);
  EXPECT_EQ(described.device.device_type, kDLCPU);
  EXPECT_EQ(described.byte_offset, 0u);
  EXPECT_EQ(described.dtype.code, kDLInt);  // the caller's own words, not "opaque4"
  EXPECT_EQ(described.dtype.bits, 8);
  EXPECT_EQ(described.dtype.lanes, 4);
  ASSERT_EQ(described.ndim, 2);
  EXPECT_EQ(described.shape[0], 2);
  EXPECT_EQ(described.shape[1], 2);
  EXPECT_EQ(described.strides[0], 2);
  EXPECT_EQ(described.strides[1], 1);

  described.data = output.values.data();  // good enough to run into
  ASSERT_EQ(sheaf_plan_run(plan.get(), data, indices, &described, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(30, 31, 10, 11));
}

TEST_F(CapiPlan, OutputThatIsGiven) {
  sheaf_plan* raw = nullptr;
  output.shape = {2, 3};
  EXPECT_EQ(sheaf_plan_gather(data, indices, output, nullptr, &raw), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [2, 3], but this call makes [2, 2]"));
  output.shape = {2, 2};
  output.strides = {1, 2};
  output.tensor.strides = output.strides.data();
  ASSERT_EQ(sheaf_plan_gather(data, indices, output, nullptr, &raw), SHEAF_OK);
  const PlanPtr plan(raw);
  ASSERT_EQ(sheaf_plan_run(raw, data, indices, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(30, 10, 31, 11));
}

TEST_F(CapiPlan, Texts) {
  const PlanPtr plan = make();
  const char* text = sheaf_plan_str(plan.get());
  EXPECT_THAT(text, HasSubstr("for p0 in 0..2"));
  EXPECT_EQ(text, sheaf_plan_str(plan.get()));  // the plan's own, made once
  EXPECT_THAT(sheaf_plan_json(plan.get()), HasSubstr("\"op\": \"gather\""));
}

TEST_F(CapiPlan, OneForEachOperator) {
  Values<int64_t> square({0, 1, 1, 0}, {2, 2});
  sheaf_plan* raw = nullptr;
  ASSERT_EQ(sheaf_plan_gather_elements(data, square, nullptr, nullptr, &raw), SHEAF_OK);
  PlanPtr plan(raw);
  ASSERT_EQ(sheaf_plan_run(raw, data, square, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(10, 21, 20, 11));

  Values<float> pair({0, 0}, {2});
  ASSERT_EQ(sheaf_plan_gather_nd(data, square, nullptr, nullptr, &raw), SHEAF_OK);
  plan.reset(raw);
  ASSERT_EQ(sheaf_plan_run(raw, data, square, pair, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(pair.values, ElementsAre(11, 20));

  const int64_t zero = 0;
  const int64_t one = 1;
  const int64_t slice[2] = {1, 2};
  sheaf_xla_gather_options xla = {};
  xla.offset_dims = {&one, 1};
  xla.collapsed_slice_dims = {&zero, 1};
  xla.start_index_map = {&zero, 1};
  xla.index_vector_dim = 1;
  xla.slice_sizes = {slice, 2};
  ASSERT_EQ(sheaf_plan_xla_gather(data, indices, nullptr, &xla, &raw), SHEAF_OK)
      << sheaf_last_error();
  plan.reset(raw);
  ASSERT_EQ(sheaf_plan_run(raw, data, indices, output, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(30, 31, 10, 11));
}

}  // namespace
}  // namespace sheaf::capi_tests
