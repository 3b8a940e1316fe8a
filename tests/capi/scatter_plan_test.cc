// SPDX-License-Identifier: MIT
//
// Plans of scatters, and gradients.
#include <memory>

#include "helpers.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class CapiScatterPlan : public testing::Test {
 protected:
  PlanPtr make(const sheaf_scatter_options* options = nullptr) {
    sheaf_plan* plan = nullptr;
    EXPECT_EQ(sheaf_plan_scatter(data, indices, updates, nullptr, options, &plan), SHEAF_OK)
        << sheaf_last_error();
    return PlanPtr(plan);
  }
  void expect_run_refused(const PlanPtr& plan, const std::string& text) {
    EXPECT_EQ(sheaf_plan_run_scatter(plan.get(), data, indices, updates, output, nullptr),
              SHEAF_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(output.values, Each(-1));
  }

  Values<float> data{{10, 11, 20, 21, 30, 31}, {3, 2}};
  Values<int64_t> indices{{2, 0}, {2}};
  Values<float> updates{{1, 2, 3, 4}, {2, 2}};
  Values<float> output{std::vector<float>(6, -1), {3, 2}};
};

TEST_F(CapiScatterPlan, NullPlans) {
  EXPECT_EQ(sheaf_plan_run_scatter(nullptr, data, indices, updates, output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sheaf_plan_run_scatter: null pointer"));
  EXPECT_EQ(sheaf_plan_scatter(data, indices, updates, nullptr, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: the address of a sheaf_plan*"));
  auto* gradient = reinterpret_cast<sheaf_plan*>(&data);  // garbage that must not stay
  EXPECT_EQ(sheaf_plan_vjp(nullptr, &gradient), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("sheaf_plan_vjp: null pointer\n  plan is null"));
  EXPECT_EQ(gradient, nullptr);
  EXPECT_EQ(sheaf_plan_vjp(make().get(), nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: the address of a sheaf_plan*"));
}

TEST_F(CapiScatterPlan, PlansOfTheOtherKind) {
  const PlanPtr scatter = make();
  EXPECT_EQ(sheaf_plan_run(scatter.get(), data, indices, output, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "scatter: plan of another operator\n"
               "  this is a scatter, but it was run as a gather\n"
               "  data f32[3, 2]   indices i64[2]   updates f32[2, 2]   axis 0   output f32[3, 2]\n"
               "  try: sheaf_plan_run_scatter");
  sheaf_plan* raw = nullptr;
  ASSERT_EQ(sheaf_plan_gather(data, indices, nullptr, nullptr, &raw), SHEAF_OK);
  expect_run_refused(PlanPtr(raw), "this is a gather, but it was run as a scatter");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: sheaf_plan_run"));
}

TEST_F(CapiScatterPlan, OtherTensorsThanPlanned) {
  const PlanPtr plan = make();
  updates.shape = {4, 1};
  expect_run_refused(plan,
                     "updates differs from the plan's\n  got f32[4, 1], planned for f32[2, 2]");
  updates.shape = {2, 2};
  updates.tensor.dtype = {kDLUInt, 8, 4};
  expect_run_refused(plan, "updates differs from the plan's\n  got uint8 x4, planned for float32");
  updates.tensor.dtype = {kDLFloat, 32, 1};
  EXPECT_EQ(sheaf_plan_run_scatter(plan.get(), nullptr, indices, updates, output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data: the pointer to the DLTensor is null"));
}

TEST_F(CapiScatterPlan, RunsOftenAndInPlace) {
  data.tensor.data = updates.tensor.data = nullptr;  // a plan needs no memory
  const PlanPtr plan = make();
  data.tensor.data = data.values.data();
  updates.tensor.data = updates.values.data();
  ASSERT_EQ(sheaf_plan_run_scatter(plan.get(), data, indices, updates, output, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(3, 4, 20, 21, 1, 2));
  indices.values = {1, 9};
  output.values.assign(6, -1);
  EXPECT_EQ(sheaf_plan_run_scatter(plan.get(), data, indices, updates, output, nullptr),
            SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(output.values, Each(-1));
  indices.values = {1, 1};
  ASSERT_EQ(sheaf_plan_run_scatter(plan.get(), data, indices, updates, data, nullptr), SHEAF_OK);
  EXPECT_THAT(data.values, ElementsAre(10, 11, 3, 4, 30, 31));
}

TEST_F(CapiScatterPlan, OutputAndTexts) {
  const PlanPtr plan = make();
  DLTensor described = {};
  ASSERT_EQ(sheaf_plan_output(plan.get(), &described), SHEAF_OK);
  ASSERT_EQ(described.ndim, 2);
  EXPECT_EQ(described.shape[0], 3);
  EXPECT_EQ(described.dtype.code, kDLFloat);
  EXPECT_THAT(sheaf_plan_str(plan.get()), HasSubstr("scatter"));
  EXPECT_THAT(sheaf_plan_json(plan.get()), HasSubstr("\"op\": \"scatter\""));
}

TEST_F(CapiScatterPlan, OneForEachOperator) {
  Values<int64_t> square({0, 1, 1, 0}, {2, 2});
  sheaf_plan* raw = nullptr;
  ASSERT_EQ(sheaf_plan_scatter_elements(data, square, updates, nullptr, nullptr, &raw), SHEAF_OK);
  PlanPtr plan(raw);
  ASSERT_EQ(sheaf_plan_run_scatter(raw, data, square, updates, output, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(1, 4, 3, 2, 30, 31));

  Values<float> pair({8, 9}, {2});
  ASSERT_EQ(sheaf_plan_scatter_nd(data, square, pair, nullptr, nullptr, &raw), SHEAF_OK);
  plan.reset(raw);
  ASSERT_EQ(sheaf_plan_run_scatter(raw, data, square, pair, output, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(10, 8, 9, 21, 30, 31));

  const int64_t zero = 0, one = 1;
  sheaf_xla_scatter_options xla = {};
  xla.update_window_dims = {&one, 1};
  xla.inserted_window_dims = {&zero, 1};
  xla.scatter_dims_to_operand_dims = {&zero, 1};
  xla.index_vector_dim = 1;
  ASSERT_EQ(sheaf_plan_xla_scatter(data, indices, updates, nullptr, &xla, &raw), SHEAF_OK)
      << sheaf_last_error();
  plan.reset(raw);
  ASSERT_EQ(sheaf_plan_run_scatter(raw, data, indices, updates, output, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(3, 4, 20, 21, 1, 2));
}

TEST_F(CapiScatterPlan, OntoZerosNeedsNoData) {
  sheaf_scatter_options options = {};
  options.onto_zeros = 1;
  sheaf_plan* raw = nullptr;
  EXPECT_EQ(sheaf_plan_scatter(nullptr, indices, updates, nullptr, &options, &raw),
            SHEAF_INVALID_ARGUMENT);  // there is no shape
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data: the pointer to the DLTensor is null"));
  ASSERT_EQ(sheaf_plan_scatter(nullptr, indices, updates, output, &options, &raw), SHEAF_OK);
  const PlanPtr plan(raw);
  const DLTensor* none = nullptr;
  for (const DLTensor* given : {none, static_cast<const DLTensor*>(data)}) {
    ASSERT_EQ(sheaf_plan_run_scatter(raw, given, indices, updates, output, nullptr), SHEAF_OK)
        << sheaf_last_error();
    EXPECT_THAT(output.values, ElementsAre(3, 4, 0, 0, 1, 2));
  }
}

// The gradient of a gather is a scatter-add onto zeros.
TEST_F(CapiScatterPlan, GradientOfAGather) {
  sheaf_plan* raw = nullptr;
  indices.values = {2, 2};
  ASSERT_EQ(sheaf_plan_gather(data, indices, nullptr, nullptr, &raw), SHEAF_OK);
  const PlanPtr plan(raw);
  ASSERT_EQ(sheaf_plan_vjp(raw, &raw), SHEAF_OK) << sheaf_last_error();
  const PlanPtr gradient(raw);
  ASSERT_EQ(sheaf_plan_run_scatter(raw, nullptr, indices, updates, output, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(0, 0, 0, 0, 4, 6));
}

TEST_F(CapiScatterPlan, GradientOfAScatter) {
  sheaf_scatter_options options = {};
  options.reduction = SHEAF_REDUCE_ADD;
  sheaf_plan* raw = nullptr;
  ASSERT_EQ(sheaf_plan_vjp(make(&options).get(), &raw), SHEAF_OK) << sheaf_last_error();
  const PlanPtr gradient(raw);
  ASSERT_EQ(sheaf_plan_run(raw, data, indices, updates, nullptr), SHEAF_OK) << sheaf_last_error();
  EXPECT_THAT(updates.values, ElementsAre(30, 31, 10, 11));

  options.reduction = SHEAF_REDUCE_MAX;
  EXPECT_EQ(sheaf_plan_vjp(make(&options).get(), &raw), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(raw, nullptr);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("no gradient as one plan\n  reduction = max"));
}

}  // namespace
}  // namespace sheaf::capi_tests
