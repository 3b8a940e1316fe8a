// SPDX-License-Identifier: MIT
#include "io/points.h"

#include <gtest/gtest.h>

#include "plan/resolve.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

TEST(Points, FollowTheNestInOrder) {
  const std::vector<int32_t> indices = {2, 9, -1};
  const Plan plan = plan_gather({f32, {2, 3, 4}}, {i32, {3}},
                                {.axis = 1, .rule = {.out_of_range = OutOfRange::kFill}});
  io::Points points(plan.nest(), reinterpret_cast<const std::byte*>(indices.data()));
  EXPECT_EQ(points.count(), 6);
  const std::vector<std::pair<int64_t, int64_t>> expected = {{32, 0},  {kOutside, 16}, {32, 32},
                                                             {80, 48}, {kOutside, 64}, {80, 80}};
  for (int round = 0; round < 2; ++round) {
    const auto block = points.next();
    ASSERT_EQ(block.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(block[i].data, expected[i].first) << i;
      EXPECT_EQ(block[i].grid, expected[i].second) << i;
    }
    EXPECT_TRUE(points.next().empty());
    points.rewind();
  }
}

TEST(Points, CrossTheirBlocks) {
  const std::vector<int64_t> indices(5000, 1);
  const Plan plan = plan_gather({u8, {2}}, {i64, {5000}});
  io::Points points(plan.nest(), reinterpret_cast<const std::byte*>(indices.data()));
  int64_t seen = 0;
  for (auto block = points.next(); !block.empty(); block = points.next()) {
    for (const io::Point& point : block) {
      EXPECT_EQ(point.data, 1);
      EXPECT_EQ(point.grid, seen++);
    }
  }
  EXPECT_EQ(seen, 5000);
}

}  // namespace
