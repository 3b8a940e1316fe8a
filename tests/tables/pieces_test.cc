// SPDX-License-Identifier: MIT
#include "tables/pieces.h"

#include <gtest/gtest.h>

#include <vector>

#include "helpers/rng.h"
#include "tables/distinct_rows.h"

namespace {

using namespace sheaf;
using namespace sheaf::tables;

// Output offsets of all points, in order.
std::vector<int64_t> offsets_of(const Fixed<Loop>& loops, int64_t start) {
  std::vector<int64_t> offsets = {start};
  for (const Loop& loop : loops) {
    std::vector<int64_t> next;
    for (const int64_t offset : offsets) {
      for (int64_t p = 0; p < loop.extent; ++p) {
        next.push_back(offset + p * loop.output);
      }
    }
    offsets = next;
  }
  return offsets;
}

TEST(Pieces, VisitAllPointsOnceInOrder) {
  Rng rng(7);
  for (int trial = 0; trial < 2000; ++trial) {
    Nest nest;
    const int64_t rank = rng.from(0, 4);
    for (int64_t d = 0; d < rank; ++d) {
      nest.loops.push_back({rng.from(1, 5), 0, 0, rng.from(-20, 20), 0});
    }
    const int64_t most = rng.from(1, 30);
    std::vector<int64_t> visited;
    Pieces pieces(nest, most);
    for (Piece piece; pieces.next(piece);) {
      const auto offsets = offsets_of(piece.loops, piece.output);
      EXPECT_EQ(std::ssize(offsets), piece.points);
      EXPECT_LE(piece.points, most);
      visited.insert(visited.end(), offsets.begin(), offsets.end());
    }
    ASSERT_EQ(visited, offsets_of(nest.loops, 0)) << "trial " << trial;
  }
}

TEST(Pieces, KnowsWhichAreContiguous) {
  const auto contiguous = [](const Fixed<Loop>& loops) { return is_contiguous({loops, 0, 0}, 8); };
  EXPECT_TRUE(contiguous({}));
  EXPECT_TRUE(contiguous({{3, 0, 0, 8, 0}}));
  EXPECT_TRUE(contiguous({{1, 0, 0, 99, 0}}));
  EXPECT_TRUE(contiguous({{2, 0, 0, 24, 0}, {3, 0, 0, 8, 0}}));
  EXPECT_FALSE(contiguous({{2, 0, 0, 32, 0}, {3, 0, 0, 8, 0}}));
  EXPECT_FALSE(contiguous({{3, 0, 0, -8, 0}}));
  EXPECT_FALSE(contiguous({{3, 0, 0, 16, 0}}));
}

TEST(DistinctRows, NumbersRowsAsTheyAreFirstMet) {
  DistinctRows rows;
  for (int round = 0; round < 2; ++round) {
    rows.clear(5);
    EXPECT_EQ(rows.number_of(96), 0);
    EXPECT_EQ(rows.number_of(0), 1);
    EXPECT_EQ(rows.number_of(96), 0);
    EXPECT_EQ(rows.number_of(32), 2);
    EXPECT_EQ(rows.number_of(0), 1);
    EXPECT_EQ(std::vector<int64_t>(rows.offsets().begin(), rows.offsets().end()),
              (std::vector<int64_t>{96, 0, 32}));
  }
}

}  // namespace
