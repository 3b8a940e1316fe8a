// SPDX-License-Identifier: MIT
//
// The normal form of scatters, what they print, and XLA's windows on cases written by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "plan/lower.h"
#include "plan/scatter_steps.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(NormalizeScatter, LoopsKeepTheOrderOfTheUpdates) {
  // Updates transposed in memory: a gather's loops would be turned round.
  const Plan plan = plan_scatter({u8, {9, 4}}, {i64, {5}}, {u8, {5, 4}, {1, 5}});
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{5, 0, 1, 1, 0}, {4, 1, 0, 5, 0}}));
  EXPECT_EQ(plan.nest().coordinates, (Fixed<Coordinate>{{9, 4, 0}}));
  EXPECT_EQ(plan.nest().row_bytes, 1);
  // Packed, the tail folds into rows as it does for a gather.
  EXPECT_EQ(plan_scatter({f32, {9, 4, 8}}, {i64, {2}}, {f32, {2, 4, 8}}).nest().row_bytes, 128);
  const Plan outer = plan_scatter({u8, {2, 3, 9}}, {i64, {5}}, {u8, {2, 3, 5}}, {.axis = 2});
  EXPECT_EQ(outer.nest().loops, (Fixed<Loop>{{6, 9, 0, 5, 0}, {5, 0, 1, 1, 0}}));
}

TEST(NormalizeScatter, PaddingToEightDimensionsMakesNoDifference) {
  const ScatterElementsOptions axis1{.axis = 1, .reduction = Reduction::kAdd};
  const ScatterElementsOptions axis7{.axis = 7, .reduction = Reduction::kAdd};
  const Plan plain = plan_scatter_elements({f32, {3, 5}}, {i32, {3, 9}}, {f32, {3, 9}}, axis1);
  const Plan padded =
      plan_scatter_elements({f32, {1, 1, 1, 1, 1, 1, 3, 5}}, {i32, {1, 1, 1, 1, 1, 1, 3, 9}},
                            {f32, {1, 1, 1, 1, 1, 1, 3, 9}, {7, 7, 0, -1, 9, 9, 9, 1}}, axis7);
  EXPECT_EQ(plain, padded);
  EXPECT_EQ(plain.str(), padded.str());
  EXPECT_EQ(plan_scatter_nd({f32, {3, 5}}, {i32, {4, 1}}, {f32, {4, 5}}),
            plan_scatter({f32, {1, 3, 5}}, {i32, {1, 4}}, {f32, {1, 1, 4, 5}}, {.axis = 1}));
}

TEST(NormalizeScatter, EqualitySeesEverythingThatMatters) {
  const auto plan = [](const ScatterOptions& options = {}) {
    return plan_scatter({f32, {9, 4}}, {i64, {2}}, {f32, {2, 4}}, options);
  };
  const Plan usual = plan();
  EXPECT_EQ(usual, plan());
  EXPECT_FALSE(usual == plan_gather({f32, {9, 4}}, {i64, {2}}));
  EXPECT_FALSE(usual == plan({.reduction = Reduction::kAdd}));
  EXPECT_FALSE(usual == plan({.onto_zeros = true}));
  EXPECT_FALSE(plan({.reduction = Reduction::kAdd}) ==
               plan({.reduction = Reduction::kAdd, .include_self = false}));
  EXPECT_FALSE(usual == plan_scatter({f32, {9, 4}, {5, 1}}, {i64, {2}}, {f32, {2, 4}}))
      << "data is copied from elsewhere";
  // Without arithmetic only the size of an element counts; with it, the type.
  EXPECT_EQ(usual, plan_scatter({i32, {9, 4}}, {i64, {2}}, {i32, {2, 4}}));
  EXPECT_FALSE(
      plan({.reduction = Reduction::kAdd}) ==
      plan_scatter({i32, {9, 4}}, {i64, {2}}, {i32, {2, 4}}, {.reduction = Reduction::kAdd}));
}

TEST(NormalizeScatter, TheCopyOfDataIsOneRow) {
  const Plan plan = plan_scatter({f32, {9, 4}}, {i64, {2}}, {f32, {2, 4}});
  const ScatterSteps steps = scatter_steps(plan.request(), plan.nest());
  EXPECT_TRUE(steps.base.loops.empty());
  EXPECT_EQ(steps.base.row_bytes, 144);
  EXPECT_FALSE(steps.start.has_value());
  EXPECT_FALSE(steps.mean.has_value());
  const Plan mean = plan_scatter({f32, {9, 4}}, {i64, {2}}, {f32, {2, 4}},
                                 {.reduction = Reduction::kMean, .include_self = false});
  const ScatterSteps more = scatter_steps(mean.request(), mean.nest());
  ASSERT_TRUE(more.start.has_value());
  EXPECT_EQ(more.start->loops, (Fixed<Loop>{{2, 0, 1, 0, 0}}));
  EXPECT_EQ(more.start->reduction, Reduction::kNone);
  ASSERT_TRUE(more.mean.has_value());
  EXPECT_EQ(more.mean->count.element_type, i64);
  EXPECT_EQ(more.mean->count.row_bytes, 8) << "the elements of a row share a count";
  EXPECT_EQ(more.mean->count.coordinates, (Fixed<Coordinate>{{9, 8, 0}}));
  EXPECT_EQ(more.mean->count_elements, 9);
  EXPECT_EQ(plan, plan_scatter({f32, {9, 4}}, {i64, {2}}, {f32, {2, 4}}, {.include_self = false}))
      << "without a reduction the old value never counts";
}

// PyTorch's way to scatter rows: an index with a stride of 0 along them.
TEST(NormalizeScatter, IndicesThatRepeatAlongRowsMoveRowsAndShareCounts) {
  const ScatterElementsOptions mean{.reduction = Reduction::kMean};
  const TensorSpec data(f32, {9, 2, 4}), updates(f32, {5, 2, 4});
  const Plan plan = plan_scatter_elements(data, {i64, {5, 2, 4}, {1, 0, 0}}, updates, mean);
  EXPECT_EQ(plan.nest(),
            plan_scatter(data, {i64, {5}}, updates, {.reduction = Reduction::kMean}).nest());
  const ScatterSteps steps = scatter_steps(plan.request(), plan.nest());
  ASSERT_TRUE(steps.mean.has_value());
  EXPECT_EQ(steps.mean->count_elements, 9);
  EXPECT_EQ(steps.mean->count.loops, (Fixed<Loop>{{5, 0, 1, 0, 0}}));
  EXPECT_EQ(steps.mean->count.coordinates, (Fixed<Coordinate>{{9, 8, 0}}));
}

// Elements beyond the indices get no update, so they cannot share a count with those that do.
TEST(NormalizeScatter, IndicesThatEndBeforeTheRowShareNoCounts) {
  const Plan plan = plan_scatter_elements({f32, {9, 4}}, {i64, {5, 3}, {1, 0}}, {f32, {5, 3}},
                                          {.reduction = Reduction::kMean});
  const ScatterSteps steps = scatter_steps(plan.request(), plan.nest());
  ASSERT_TRUE(steps.mean.has_value());
  EXPECT_EQ(steps.mean->count_elements, 36);
}

// What a run makes for itself has to be within reach as well: counts of 8 bytes, copies of 4.
TEST(ScatterSteps, RefusesCountsAndCopiesThatAreTooLarge) {
  const int64_t huge = int64_t{1} << 61;
  const TensorSpec one(i64, {1});
  EXPECT_EQ(refusal([&] {
              plan_scatter({u8, {huge}}, one, {u8, {1}}, {.reduction = Reduction::kMean});
            }),
            "scatter: tensor too large\n"
            "  the counts of a mean, 8 bytes each, reach beyond 2^63 - 1 bytes\n"
            "  data u8[2305843009213693952]   indices i64[1]   updates u8[1]   axis 0   "
            "reduction mean   output u8[2305843009213693952]\n"
            "  try: fewer elements per call, or reduction = add");
  const ScatterOptions in_f32{.reduction = Reduction::kAdd, .accumulate_f32 = true};
  const std::string reason = "its copy in f32 reaches beyond 2^63 - 1 bytes";
  EXPECT_NE(refusal([&] {
              plan_scatter({f8e4m3, {huge * 2}}, one, {f8e4m3, {1}}, in_f32);
            }).find(reason),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              plan_scatter({f8e4m3, {2}}, {i64, {huge * 2}, {0}}, {f8e4m3, {huge * 2}}, in_f32);
            }).find(reason),
            std::string::npos);
}

TEST(PrintScatter, ReadsTheOtherWay) {
  const Plan plan =
      plan_scatter({f32, {9, 4}}, {i64, {2}}, {f32, {2, 4}},
                   {.reduction = Reduction::kAdd, .rule = {.out_of_range = OutOfRange::kSkip}});
  EXPECT_EQ(
      plan.str(),
      "scatter add f32, 16 bytes per step, i64 indices, negative from_end, out of range skip\n"
      "  for p0 in 0..2\n"
      "    i0 = indices[p0] in 0..9\n"
      "    output + i0*16 <- updates + p0*16\n");
  const auto json = nlohmann::json::parse(plan.json());
  EXPECT_EQ(json["op"], "scatter");
  EXPECT_EQ(json["reduction"], "add");
  EXPECT_EQ(json["include_self"], true);
  EXPECT_EQ(json["updates"]["sizes"], nlohmann::json::array({2, 4}));
  EXPECT_EQ(json["out_of_range"], "skip");
}

// ---- Windows

// A window of `updates` along the one axis of [1, 1, 1, 1], added at `starts`.
std::vector<int32_t> windows(const std::vector<int32_t>& starts,
                             const std::vector<int32_t>& updates,
                             const XlaScatterOptions& more = {}) {
  XlaScatterOptions options = more;
  options.update_window_dims = {1};
  options.scatter_dims_to_operand_dims = {0};
  options.index_vector_dim = 1;
  options.reduction = Reduction::kAdd;
  const auto count = static_cast<int64_t>(starts.size());
  const std::vector<int32_t> data(4, 1);
  const Array output =
      xla_scatter(view(data), view(starts, {count, 1}),
                  view(updates, {count, static_cast<int64_t>(updates.size()) / count}), options);
  const auto all = output.elements<int32_t>();
  return {all.begin(), all.end()};
}

TEST(XlaWindows, ElementsOutsideAreLeftOutByDefault) {
  EXPECT_EQ(windows({0}, {10, 20}), (std::vector<int32_t>{11, 21, 1, 1}));
  EXPECT_EQ(windows({3}, {10, 20}), (std::vector<int32_t>{1, 1, 1, 11}));
  EXPECT_EQ(windows({-1}, {10, 20}), (std::vector<int32_t>{21, 1, 1, 1}));
  EXPECT_EQ(windows({-2}, {10, 20}), (std::vector<int32_t>{1, 1, 1, 1}));
  EXPECT_EQ(windows({4}, {10, 20}), (std::vector<int32_t>{1, 1, 1, 1}));
  EXPECT_EQ(windows({2, -1}, {10, 20, 30, 40}), (std::vector<int32_t>{41, 1, 11, 21}));
  EXPECT_EQ(windows({INT32_MIN, INT32_MAX}, {10, 20, 30, 40}), (std::vector<int32_t>{1, 1, 1, 1}));
}

TEST(XlaWindows, OrAsAWhole) {
  const XlaScatterOptions whole{.skip_whole_window = true};
  EXPECT_EQ(windows({3}, {10, 20}, whole), (std::vector<int32_t>{1, 1, 1, 1}));
  EXPECT_EQ(windows({-1}, {10, 20}, whole), (std::vector<int32_t>{1, 1, 1, 1}));
  EXPECT_EQ(windows({2}, {10, 20}, whole), (std::vector<int32_t>{1, 1, 11, 21}));
}

TEST(XlaWindows, OtherRulesKeepTheWholeWindowInside) {
  const auto rule = [](Negative negative, OutOfRange out_of_range) {
    return XlaScatterOptions{.rule = {negative, out_of_range}};
  };
  const auto clamp = rule(Negative::kOutOfRange, OutOfRange::kClamp);
  EXPECT_EQ(windows({3, -5}, {10, 20, 30, 40}, clamp), (std::vector<int32_t>{31, 41, 11, 21}));
  EXPECT_THROW(windows({3}, {10, 20}, rule(Negative::kOutOfRange, OutOfRange::kFail)), IndexError);
  // There are 3 places for a window of 2: -1 is the last of them.
  EXPECT_EQ(windows({-1}, {10, 20}, rule(Negative::kFromEnd, OutOfRange::kFail)),
            (std::vector<int32_t>{1, 1, 11, 21}));
  // Element by element, -1 is the last entry of the axis.
  EXPECT_EQ(windows({-1}, {10, 20}, rule(Negative::kFromEnd, OutOfRange::kSkip)),
            (std::vector<int32_t>{1, 1, 1, 11}));
}

// A 2 x 2 window at the corner of a 3 x 3 square, and one that is cut on both axes.
TEST(XlaWindows, AreCutOnEveryAxis) {
  const std::vector<int32_t> data(9, 0);
  const std::vector<int32_t> starts = {2, 2, -1, 1};
  const std::vector<int32_t> updates = {1, 2, 3, 4, 5, 6, 7, 8};
  XlaScatterOptions options{
      .update_window_dims = {1, 2}, .scatter_dims_to_operand_dims = {0, 1}, .index_vector_dim = 1};
  const Plan plan = plan_xla_scatter({i32, {3, 3}}, {i32, {2, 2}}, {i32, {2, 2, 2}}, options);
  for (const std::string& kernel : accepting_kernels(plan)) {
    std::vector<int32_t> output(9, -1);
    plan.run(data.data(), starts.data(), updates.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output, (std::vector<int32_t>{0, 7, 8, 0, 0, 0, 0, 0, 1})) << kernel;
  }
  options.skip_whole_window = true;
  const Array whole =
      xla_scatter(view(data, {3, 3}), view(starts, {2, 2}), view(updates, {2, 2, 2}), options);
  for (const int32_t value : whole.elements<int32_t>()) {
    EXPECT_EQ(value, 0);
  }
}

TEST(XlaWindows, ShowInThePlan) {
  const Plan plan = plan_xla_scatter(
      {f32, {9}}, {i64, {5, 1}}, {f32, {5, 2}},
      {.update_window_dims = {1}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1});
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{5, 0, 1, 8, 0}, {2, 0, 0, 4, 1}}));
  EXPECT_NE(plan.str().find("    i0 = indices[p0] + p1 in 0..9\n"), std::string::npos)
      << plan.str();
}

}  // namespace
}  // namespace sheaf
