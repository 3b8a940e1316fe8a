// SPDX-License-Identifier: MIT
//
// Gradients as plans: for every x and g, <vjp(g), x> = <g, forward(x)>. On integers that is exact.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Values = std::vector<int64_t>;

Values random_values(Rng& rng, const TensorSpec& spec) {
  Values values(static_cast<size_t>(element_count(spec.sizes)));
  for (int64_t& value : values) {
    value = rng.from(-9, 9);
  }
  return values;
}

int64_t dot(const Values& a, const Values& b) {
  EXPECT_EQ(a.size(), b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t{0});
}

// `plan` is of i64, and its indices are packed.
void expect_gradient_of_gather(const Plan& plan, const Values& indices) {
  Rng rng(1);
  const Plan back = vjp(plan);
  ASSERT_TRUE(back.is_scatter());
  EXPECT_EQ(back.updates(), TensorSpec(i64, plan.output().sizes));
  EXPECT_EQ(back.output(), TensorSpec(i64, plan.data().sizes));
  const Values x = random_values(rng, plan.data()), g = random_values(rng, plan.output());
  const Values nothing(x.size(), 0);
  Values y(g.size()), constant(g.size()), gradient(x.size(), 77);
  plan.run(x.data(), indices.data(), y.data());
  plan.run(nothing.data(), indices.data(), constant.data());  // what fill_value adds
  for (const std::string& kernel : accepting_kernels(back)) {
    back.run(nullptr, indices.data(), g.data(), gradient.data(), {.kernel = kernel});
    EXPECT_EQ(dot(gradient, x), dot(g, y) - dot(g, constant)) << kernel << "\n" << plan.str();
  }
}

TEST(VjpOfGather, IsAScatterAddOntoZeros) {
  const Values indices = {2, -1, 0, 2, 2, 1};
  expect_gradient_of_gather(plan_gather({i64, {3, 4}}, {i64, {6}}), indices);
  expect_gradient_of_gather(plan_gather({i64, {2, 3, 2}}, {i64, {2, 3}}, {.axis = 1}), indices);
  expect_gradient_of_gather(
      plan_gather({i64, {2, 3, 2}}, {i64, {2, 3}}, {.axis = 1, .batch_dims = 1}), indices);
  const Plan back = vjp(plan_gather({f32, {3, 4}}, {i64, {6}}));
  EXPECT_EQ(back, plan_scatter({f32, {3, 4}}, {i64, {6}}, {f32, {6, 4}},
                               {.reduction = Reduction::kAdd, .onto_zeros = true}));
}

TEST(VjpOfGather, FollowsEveryIndexRule) {
  const Values indices = {2, -1, 7, -9, 3, 1};
  for (const OutOfRange rule : {OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
    for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
      const IndexRule both{negative, rule, 5};
      expect_gradient_of_gather(plan_gather({i64, {3, 4}}, {i64, {6}}, {.rule = both}), indices);
      expect_gradient_of_gather(plan_gather_elements({i64, {3, 3}}, {i64, {2, 3}}, {.rule = both}),
                                indices);
      expect_gradient_of_gather(plan_gather_nd({i64, {3, 4}}, {i64, {3, 2}}, {.rule = both}),
                                indices);
      expect_gradient_of_gather(plan_xla_gather({i64, {4, 5}}, {i64, {3, 2}},
                                                {.offset_dims = {1, 2},
                                                 .start_index_map = {1, 0},
                                                 .index_vector_dim = 1,
                                                 .slice_sizes = {2, 3},
                                                 .rule = both}),
                                indices);
    }
  }
}

TEST(VjpOfGather, TakesStretchedIndices) {
  expect_gradient_of_gather(plan_gather_elements({i64, {3, 4}}, {i64, {6, 1}}, {.broadcast = true}),
                            {2, -1, 0, 2, 2, 1});
  expect_gradient_of_gather(
      plan_gather_elements({i64, {3, 2}}, {i64, {1, 5}}, {.axis = 1, .broadcast = true}),
      {1, 0, 0, 1, 1});
}

TEST(VjpOfGather, RefusesStretchedData) {
  EXPECT_EQ(refusal([] {
              vjp(plan_gather_elements({f32, {3, 1}}, {i64, {6, 4}}, {.broadcast = true}));
            }),
            "gather_elements: no gradient as one plan\n"
            "  dimension 1 of data was stretched from 1 to 4\n"
            "  data f32[3, 1]   indices i64[6, 4]   axis 0   broadcast 1   output f32[6, 4]\n"
            "  try: stretch data first, and sum its gradient");
}

TEST(VjpOfGather, PacksAllButTheIndices) {
  const Plan back =
      vjp(plan_gather({f32, {3, 4}, {1, 3}}, {i64, {6}, {-1}}, {f32, {6, 4}, {5, 1}}));
  EXPECT_EQ(back.indices(), TensorSpec(i64, {6}, {-1}));
  EXPECT_EQ(back.updates(), TensorSpec(f32, {6, 4}));
  EXPECT_EQ(back.output(), TensorSpec(f32, {3, 4}));
}

TEST(VjpOfGather, RefusesTypesThatCannotBeAdded) {
  EXPECT_EQ(refusal([] {
              vjp(plan_gather({opaque(3), {3}}, {i64, {6}}));
            }).find("vjp: reduction does not fit the type\n  reduction = add on opaque3"),
            0u);
}

// <vjp(g), u> = <g, scatter(0, u)>: linear in the updates, for data of zeros.
void expect_gradient_of_scatter(const Plan& plan, const Values& indices) {
  Rng rng(2);
  const Plan back = vjp(plan);
  ASSERT_FALSE(back.is_scatter());
  EXPECT_EQ(back.output(), TensorSpec(i64, plan.updates().sizes));
  const Values u = random_values(rng, plan.updates()), g = random_values(rng, plan.output());
  const Values zeros(g.size(), 0);
  Values y(g.size()), gradient(u.size(), 77);
  plan.run(zeros.data(), indices.data(), u.data(), y.data());
  back.run(g.data(), indices.data(), gradient.data());
  EXPECT_EQ(dot(gradient, u), dot(g, y)) << plan.str();
}

TEST(VjpOfScatter, IsAGather) {
  const Values unique = {2, -4, 9, 1};
  const Values repeated = {2, -2, 9, 2};
  for (const OutOfRange rule : {OutOfRange::kSkip, OutOfRange::kWrap}) {
    const IndexRule both{Negative::kFromEnd, rule, {}};
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
      // Of several updates to one element only the last one counts: none needs unique indices.
      // (9 modulo 4 is 1, which the fourth index says too.)
      const bool sums = reduction == Reduction::kAdd;
      const Values indices = sums                        ? repeated
                             : rule == OutOfRange::kWrap ? Values{2, -4, 7, 1}
                                                         : unique;
      expect_gradient_of_scatter(plan_scatter({i64, {4, 3}}, {i64, {4}}, {i64, {4, 3}},
                                              {.reduction = reduction, .rule = both}),
                                 indices);
      expect_gradient_of_scatter(plan_scatter_elements({i64, {4, 1}}, {i64, {4, 1}}, {i64, {4, 1}},
                                                       {.reduction = reduction, .rule = both}),
                                 indices);
      expect_gradient_of_scatter(plan_scatter_nd({i64, {4, 3}}, {i64, {4, 1}}, {i64, {4, 3}},
                                                 {.reduction = reduction, .rule = both}),
                                 indices);
    }
  }
  expect_gradient_of_scatter(plan_xla_scatter({i64, {9}}, {i64, {4, 1}}, {i64, {4, 2}},
                                              {.update_window_dims = {1},
                                               .scatter_dims_to_operand_dims = {0},
                                               .index_vector_dim = 1,
                                               .reduction = Reduction::kAdd,
                                               .skip_whole_window = true}),
                             {0, 8, 7, 7});
}

TEST(VjpOfScatter, UndoesTheVjpOfAGather) {
  const Plan plan = plan_gather({f32, {3, 4}}, {i64, {6}});
  EXPECT_EQ(vjp(vjp(plan)), plan);
}

TEST(VjpOfScatter, RefusesWhatIsNotLinear) {
  for (const Reduction reduction :
       {Reduction::kSub, Reduction::kMul, Reduction::kMin, Reduction::kMax, Reduction::kMean}) {
    const std::string name(to_string(reduction));
    EXPECT_EQ(refusal([&] {
                vjp(plan_scatter({f32, {3}}, {i64, {6}}, {f32, {6}}, {.reduction = reduction}));
              }),
              "scatter: no gradient as one plan\n"
              "  reduction = " +
                  name +
                  ", but none and add have one\n"
                  "  data f32[3]   indices i64[6]   updates f32[6]   axis 0   reduction " +
                  name + "   output f32[3]\n  try: reduction = none or add");
  }
  EXPECT_NE(refusal([] {
              vjp(plan_xla_scatter({f32, {9}}, {i64, {4, 1}}, {f32, {4, 2}},
                                   {.update_window_dims = {1},
                                    .scatter_dims_to_operand_dims = {0},
                                    .index_vector_dim = 1}));
            })
                .find("xla_scatter: no gradient as one plan\n  windows that are partly outside are "
                      "cut element by element\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
