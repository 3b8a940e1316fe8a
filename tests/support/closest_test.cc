// SPDX-License-Identifier: MIT
#include "support/closest.h"

#include <gtest/gtest.h>

namespace sheaf {
namespace {

const std::vector<std::string_view> kWords = {"doctor", "demo", "gather", "gather_nd", "explain"};

TEST(Closest, FindsOneKeystrokeAway) {
  EXPECT_EQ(closest("docter", kWords), "doctor");
  EXPECT_EQ(closest("dcotor", kWords), "doctor") << "neighbours swapped";
  EXPECT_EQ(closest("explian", kWords), "explain");
  EXPECT_EQ(closest("gathe", kWords), "gather");
  EXPECT_EQ(closest("GATHER", kWords), "gather") << "letters in another case are the same";
  EXPECT_EQ(closest("dem", kWords), "demo");
}

TEST(Closest, FindsNothingFarAway) {
  EXPECT_EQ(closest("convert", kWords), "");
  EXPECT_EQ(closest("", kWords), "");
  EXPECT_EQ(closest("x", kWords), "");
  EXPECT_EQ(closest("doctor", {}), "");
  EXPECT_EQ(closest(std::string(100, 'd'), kWords), "");
}

TEST(Closest, Asks) {
  EXPECT_EQ(did_you_mean("docter", kWords), "did you mean doctor?");
  EXPECT_EQ(did_you_mean("table", kWords), "");
}

}  // namespace
}  // namespace sheaf
