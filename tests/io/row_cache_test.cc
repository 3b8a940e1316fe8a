// SPDX-License-Identifier: MIT
#include "io/row_cache.h"

#include <gtest/gtest.h>

namespace {

using namespace sheaf;
using Key = RowCache::State::Key;

constexpr int64_t kRow = 8;
constexpr int64_t kCost = kRow + RowCache::State::kOverhead;

const std::byte kBytes[kRow] = {};
Key key(int64_t offset) { return {1, offset, kRow}; }

TEST(RowCache, KeepsRowsThatAreAskedForAgain) {
  RowCache cache(3 * kCost);
  RowCache::State& state = cache.state();
  for (const int64_t row : {1, 2, 3}) {
    EXPECT_EQ(state.find(key(row)), nullptr);
    state.put(key(row), kBytes);
  }
  EXPECT_NE(state.find(key(1)), nullptr);
  state.put(key(4), kBytes);  // 1 is the oldest, but was asked for: 2 goes
  EXPECT_NE(state.find(key(1)), nullptr);
  EXPECT_EQ(state.find(key(2)), nullptr);
  EXPECT_NE(state.find(key(3)), nullptr);
  EXPECT_NE(state.find(key(4)), nullptr);
  EXPECT_EQ(cache.hits(), 4);
  EXPECT_EQ(cache.misses(), 4);
  EXPECT_EQ(cache.bytes(), 3 * kCost);
}

TEST(RowCache, NeverOutgrowsItsRoom) {
  RowCache cache(10 * kCost);
  RowCache::State& state = cache.state();
  for (int64_t row = 0; row < 1000; ++row) {
    state.put(key(row), kBytes);
    state.find(key(row % 7));
    EXPECT_LE(cache.bytes(), 10 * kCost);
  }
  const std::vector<std::byte> large(static_cast<size_t>(20 * kCost));
  state.put({1, 0, 20 * kCost}, large.data());
  EXPECT_EQ(state.find({1, 0, 20 * kCost}), nullptr);
}

}  // namespace
