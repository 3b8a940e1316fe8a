// SPDX-License-Identifier: MIT
#include "io/block_set.h"

#include <gtest/gtest.h>

namespace {

void check_order(sheaf::io::BlockSet set) {
  for (const int64_t block : {399, 100, 163, 164, 165, 300, 163}) {
    set.add(block);
  }
  EXPECT_EQ(set.count(), 6);
  EXPECT_TRUE(set.contains(164));
  EXPECT_FALSE(set.contains(166));
  EXPECT_EQ(set.slot_of(100), 0);
  EXPECT_EQ(set.slot_of(165), 3);
  EXPECT_EQ(set.slot_of(399), 5);
  EXPECT_EQ(set.next(100, 400), 100);
  EXPECT_EQ(set.next(101, 400), 163);
  EXPECT_EQ(set.next(166, 400), 300);
  EXPECT_EQ(set.next(166, 250), 250);
  EXPECT_EQ(set.next(400, 400), 400);
}

// As bits, and as the list that a set of few blocks is.
TEST(BlockSet, NumbersBlocksInOrder) {
  for (const int64_t most : {int64_t{7}, INT64_MAX}) {
    check_order(sheaf::io::BlockSet(100, 400, most));
  }
}

TEST(BlockSet, IsAListWhereThatTakesLessMemory) {
  using sheaf::io::blocks_of_a_part;
  EXPECT_TRUE(sheaf::io::BlockSet::prefers_list(9, 320));
  EXPECT_FALSE(sheaf::io::BlockSet::prefers_list(10, 320));
  constexpr int64_t kMemory = 1 << 18, kHuge = int64_t{1} << 50;
  EXPECT_EQ(blocks_of_a_part(kHuge, kMemory / 16, kMemory), kHuge);
  EXPECT_EQ(blocks_of_a_part(kHuge, kMemory / 16 + 1, kMemory), kMemory * 4);
  EXPECT_EQ(blocks_of_a_part(10, 10, kMemory), kMemory * 4);
}

}  // namespace
