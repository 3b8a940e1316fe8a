// SPDX-License-Identifier: MIT
//
// Calls that move the same bytes in the same way are the same plan, and print the same.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "helpers/limits.h"
#include "plan/lower.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.str(), b.str());
}

TEST(NormalizeEmpty, AllEmptyNestsLookAlike) {
  const Plan no_indices = plan_gather({f32, {3, 5}}, {i64, {0}});
  EXPECT_TRUE(no_indices.nest().empty());
  EXPECT_EQ(no_indices.nest().loops, (Fixed<Loop>{{0, 0, 0, 0, 0}}));
  EXPECT_EQ(no_indices.nest().index_loops, (Fixed<IndexLoop>{{0, 0}}));
  const Plan no_columns = plan_gather({f32, {3, 0}}, {i64, {2, 4}});
  EXPECT_TRUE(no_columns.nest().empty());
  EXPECT_EQ(no_columns.nest().index_loops, (Fixed<IndexLoop>{{8, 1}})) << "still to be checked";
  expect_same(plan_gather({f32, {3, 5, 0}}, {i64, {8}}, {.axis = 1}),
              plan_gather({f32, {5, 0, 2}}, {i64, {8}}));
  // No tuple components, nothing to check, but something to move.
  const Plan no_tuples = plan_gather_nd({f32, {3}}, {i64, {4, 0}});
  EXPECT_FALSE(no_tuples.nest().empty());
  EXPECT_TRUE(no_tuples.nest().coordinates.empty());
}

TEST(NestEquality, EveryFieldCounts) {
  const Nest nest = plan_gather({f32, {3, 5}}, {i64, {2}}).nest();
  EXPECT_TRUE(nest == Nest(nest));
  using Change = void (*)(Nest&);
  for (const Change change : std::initializer_list<Change>{
           [](Nest& n) { n.loops[0].extent = 9; }, [](Nest& n) { n.coordinates[0].extent = 9; },
           [](Nest& n) { n.index_loops[0].extent = 9; }, [](Nest& n) { n.row_bytes = 4; },
           [](Nest& n) { n.element_bytes = 2; }, [](Nest& n) { n.index_type = i32; },
           [](Nest& n) { n.negative = Negative::kOutOfRange; },
           [](Nest& n) { n.out_of_range = OutOfRange::kClamp; }, [](Nest& n) { n.scatters = true; },
           [](Nest& n) { n.reduction = Reduction::kAdd; }, [](Nest& n) { n.element_type = f64; },
           [](Nest& n) { n.fill_value[0] = std::byte{1}; }}) {
    Nest other = nest;
    change(other);
    EXPECT_FALSE(nest == other);
  }
}

TEST(NormalizeScalars, NoLoopIsLeft) {
  const Plan plan = plan_gather({f32, {3}}, {i64, {}});
  EXPECT_TRUE(plan.nest().loops.empty());
  EXPECT_TRUE(plan.nest().index_loops.empty());
  EXPECT_FALSE(plan.nest().empty());
  expect_same(plan, plan_gather({f32, {3, 1}}, {i64, {1, 1}}));
}

TEST(NormalizePadding, LeadingOnesMakeNoDifference) {
  const Plan plain = plan_gather({f32, {3, 5}}, {i64, {4}}, {.axis = 1});
  expect_same(plain, plan_gather({f32, {1, 1, 1, 1, 1, 1, 3, 5}}, {i64, {4}}, {.axis = 7}));
  expect_same(plain, plan_gather({f32, {1, 1, 3, 5}}, {i64, {1, 1, 4}}, {.axis = -1}));
  // Padding with stride 0, and with strides that mean nothing.
  expect_same(plain, plan_gather({f32, {1, 1, 3, 5}, {0, kMost, 5, 1}}, {i64, {1, 4}, {-9, 1}},
                                 {f32, {1, 1, 3, 1, 4}, {0, -3, 4, kMost, 1}}, {.axis = 3}));
  const Plan nd = plan_gather_nd({f32, {3, 5, 7}}, {i32, {4, 2}});
  expect_same(nd, plan_gather_nd({f32, {3, 5, 7, 1}}, {i32, {1, 1, 4, 2}}));
  const Plan elements = plan_gather_elements({u8, {3, 5}}, {i32, {3, 9}}, {.axis = 1});
  expect_same(elements, plan_gather_elements({u8, {1, 3, 1, 5}}, {i32, {1, 3, 1, 9}}, {.axis = 3}));
}

TEST(NormalizeRows, ContiguousTailsFold) {
  EXPECT_EQ(plan_gather({f32, {9, 4, 8}}, {i64, {2}}).nest().row_bytes, 128);
  EXPECT_EQ(plan_gather({f32, {9, 4, 8}, {32, 8, 1}}, {i64, {2}}, {f32, {2, 4, 8}, {40, 10, 1}})
                .nest()
                .row_bytes,
            32)
      << "the output has gaps";
  EXPECT_EQ(plan_gather({f32, {9, 4, 8}, {32, 1, 4}}, {i64, {2}}).nest().row_bytes, 4)
      << "the data is transposed";
  EXPECT_EQ(plan_gather({f32, {9, 8}, {-8, 1}}, {i64, {2}}).nest().row_bytes, 32);
  EXPECT_EQ(plan_gather({f32, {9, 8}, {8, -1}}, {i64, {2}}).nest().row_bytes, 4);
  EXPECT_EQ(plan_gather({f32, {9, 8}, {8, 0}}, {i64, {2}}).nest().row_bytes, 4);
  // Transposed data into an output that is transposed in the same way: rows again.
  EXPECT_EQ(plan_gather({f32, {9, 4, 8}, {32, 1, 4}}, {i64, {2}}, {f32, {2, 4, 8}, {32, 1, 4}})
                .nest()
                .row_bytes,
            128);
}

TEST(NormalizeRows, TypesOfEqualSizeAreEqual) {
  expect_same(plan_gather({f32, {9, 4}}, {i64, {2}}), plan_gather({i32, {9, 4}}, {i64, {2}}));
}

TEST(NormalizeRows, ExpandedIndicesAreRows) {
  const Plan rows = plan_gather({f32, {9, 64}}, {i64, {7}});
  expect_same(rows, plan_gather_elements({f32, {9, 64}}, {i64, {7, 64}, {1, 0}}));
  expect_same(rows, plan_gather_elements({f32, {9, 64}}, {i64, {7, 1}}, {.broadcast = true}));
  expect_same(rows, plan_gather_nd({f32, {9, 64}}, {i64, {7, 1}}));
  expect_same(rows, plan_xla_gather({f32, {9, 64}}, {i64, {7, 1}},
                                    {.offset_dims = {1},
                                     .collapsed_slice_dims = {0},
                                     .start_index_map = {0},
                                     .index_vector_dim = 1,
                                     .slice_sizes = {1, 64},
                                     .rule = {Negative::kFromEnd, OutOfRange::kFail}}));
}

TEST(NormalizeLoops, ThoseThatChainAreMerged) {
  const Plan plan = plan_gather({u8, {2, 3, 4, 9}}, {i64, {5, 6}}, {.axis = 3});
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{24, 9, 0, 30, 0}, {30, 0, 1, 1, 0}}));
  EXPECT_EQ(plan.nest().index_loops, (Fixed<IndexLoop>{{30, 1}}));
  // Indices with a gap after each row do not chain.
  const Plan gaps = plan_gather({u8, {9}}, {i64, {5, 6}, {7, 1}});
  EXPECT_EQ(gaps.nest().loops, (Fixed<Loop>{{5, 0, 7, 6, 0}, {6, 0, 1, 1, 0}}));
  EXPECT_EQ(gaps.nest().index_loops, (Fixed<IndexLoop>{{5, 7}, {6, 1}}));
  // Backwards in all three.
  const Plan backwards =
      plan_gather_elements({u8, {4, 5, 3}, {-15, -3, 1}}, {i64, {4, 5, 1}, {-5, -1, 1}},
                           {u8, {4, 5, 1}, {-5, -1, 1}}, {.axis = 2});
  EXPECT_EQ(backwards.nest().loops, (Fixed<Loop>{{20, -3, -1, -1, 0}}));
}

TEST(NormalizeLoops, AreOrderedByOutputStride) {
  const Plan plan = plan_gather({u8, {9, 4}}, {i64, {5}}, {u8, {5, 4}, {1, -5}});
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{4, 1, 0, -5, 0}, {5, 0, 1, 1, 0}}));
}

TEST(NormalizeLoops, RepeatedIndicesAreCheckedOnce) {
  const Plan plan = plan_gather({u8, {9}}, {i64, {5, 6}, {0, 1}});
  EXPECT_EQ(plan.nest().index_loops, (Fixed<IndexLoop>{{6, 1}}));
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{5, 0, 0, 6, 0}, {6, 0, 1, 1, 0}}));
}

TEST(NormalizeLoops, StridesAtTheEndsOfInt64DoNotWrap) {
  // The inner stride times its extent is 2^63: no outer stride can be that.
  const int64_t far = int64_t{1} << 62;
  const Plan plan = plan_gather_elements({u8, {2, 1, 2}, {1, 1, far}}, {u8, {2, 1, 2}, {1, 1, far}},
                                         {u8, {2, 1, 2}, {1, 1, far}}, {.axis = 1});
  EXPECT_EQ(plan.nest().loops, (Fixed<Loop>{{2, far, far, far, 0}, {2, 1, 1, 1, 0}}));
  const Plan other = plan_gather({u8, {3}}, {u8, {2, 2}, {1, far}}, {u8, {2, 2}, {far, 1}});
  EXPECT_EQ(other.nest().index_loops, (Fixed<IndexLoop>{{2, 1}, {2, far}}));
}

TEST(PlanEquality, SeesEverythingThatMatters) {
  const auto plan = [](const GatherOptions& options = {}) {
    return plan_gather({f32, {9, 4}}, {i64, {2}}, options);
  };
  const Plan usual = plan();
  EXPECT_EQ(usual, plan());
  EXPECT_FALSE(usual == plan({.axis = 1}));
  EXPECT_FALSE(usual == plan({.rule = {.negative = Negative::kOutOfRange}}));
  EXPECT_FALSE(usual == plan({.rule = {.out_of_range = OutOfRange::kClamp}}));
  EXPECT_FALSE(usual == plan_gather({f32, {9, 4}}, {i32, {2}}));
  EXPECT_FALSE(usual == plan_gather({f32, {8, 4}}, {i64, {2}}));
  EXPECT_FALSE(usual == plan_gather({f32, {9, 4}}, {i64, {3}}));
  EXPECT_FALSE(usual == plan_gather({f64, {9, 4}}, {i64, {2}}));
  EXPECT_FALSE(usual == plan_gather({f32, {9, 4}, {5, 1}}, {i64, {2}}));
  EXPECT_FALSE(usual == plan_gather({f32, {9, 4}}, {i64, {2}, {2}}));
  const auto fill = [&](const Scalar& value) {
    return plan({.rule = {.out_of_range = OutOfRange::kFill, .fill_value = value}});
  };
  EXPECT_EQ(fill(7), fill(7.0));
  EXPECT_FALSE(fill(7) == fill(8));
  EXPECT_EQ(plan({.rule = {.fill_value = 1}}), plan({.rule = {.fill_value = 2}}));
}

}  // namespace
}  // namespace sheaf
