// SPDX-License-Identifier: MIT
#include "examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace {

using testing::ElementsAre;

// The three examples of Apple's page on BNNSGatherND.
TEST(BnnsExamples, ScalarIndexGathersA2DSlice) {
  std::array<float, 4> slice = {};
  EXPECT_EQ(gather_one_slice(slice.data()), 0);
  EXPECT_THAT(slice, ElementsAre(20, 21, 22, 23));
}

TEST(BnnsExamples, PairGathersA1DSlice) {
  std::array<float, 2> row = {};
  EXPECT_EQ(gather_one_row(row.data()), 0);
  EXPECT_THAT(row, ElementsAre(20, 21));
}

TEST(BnnsExamples, TripleGathersOneElement) {
  std::array<float, 1> element = {};
  EXPECT_EQ(gather_one_element(element.data()), 0);
  EXPECT_THAT(element, ElementsAre(23));
}

TEST(BnnsExamples, VectorGathersColumns) {
  std::array<float, 6> columns = {};
  EXPECT_EQ(gather_columns(columns.data()), 0);
  EXPECT_THAT(columns, ElementsAre(30, 10, 60, 40, 90, 70));
}

TEST(BnnsExamples, VectorAddsRows) {
  std::array<float, 9> sums = {0, 0, 0, 5, 5, 5, 100, 100, 100};
  EXPECT_EQ(add_rows(sums.data()), 0);
  EXPECT_THAT(sums, ElementsAre(0, 0, 0, 5, 5, 5, 111, 122, 133));
}

}  // namespace
