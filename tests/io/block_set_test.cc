// SPDX-License-Identifier: MIT
#include "io/block_set.h"

#include <gtest/gtest.h>

namespace {

TEST(BlockSet, NumbersBlocksInOrder) {
  sheaf::io::BlockSet set(100, 400);
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

}  // namespace
