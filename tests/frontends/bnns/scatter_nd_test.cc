// SPDX-License-Identifier: MIT
#include <string>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BnnsScatterNd : public testing::Test {
 protected:
  std::vector<float> updates = {1, 2, 3, 4};
  std::vector<float> result = {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  BNNSNDArrayDescriptor output = describe({BNNSDataLayout3DFirstMajor, {3, 2, 2}}, result);
};

TEST_F(BnnsScatterNd, Refusals) {
  const std::vector<float> before = result;
  std::vector<int32_t> lookup = {0, 0, 0, 0};
  auto input = describe({BNNSDataLayoutVector, {1}}, updates);
  auto indices = describe({BNNSDataLayoutVector, {4}}, lookup);
  EXPECT_EQ(BNNSScatterND(kNone, &input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("BNNSScatterND: index tuples too long\n  the last dimension of indices "
                        "holds tuples of 4, but data has 3 dimensions for them"));
  indices = describe({BNNSDataLayoutVector, {1}}, lookup);
  EXPECT_EQ(BNNSScatterND(kNone, &input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("BNNSScatterND: input has the wrong shape\n"
                                            "  input is [1], but this call takes [2, 2]"));
  EXPECT_EQ(BNNSScatterND(BNNSReduceFunctionMax, &input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("BNNSScatterND: unsupported reduction\n  op = 0, but"));
  EXPECT_EQ(BNNSScatterND(kNone, nullptr, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("input is null"));
  input.data_type = BNNSDataTypeFloat16;
  EXPECT_EQ(BNNSScatterND(kNone, &input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("types differ\n  input is f16, but output is f32"));
  EXPECT_EQ(result, before);
}

TEST_F(BnnsScatterNd, IndexOutOfRange) {
  const std::vector<float> before = result;
  std::vector<int32_t> lookup = {0, 1, 2, 2};
  const auto input = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, updates);
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, lookup);
  EXPECT_EQ(BNNSScatterND(kSum, &input, &indices, &output, nullptr), -1005);
  EXPECT_THAT(
      sheaf_last_error(),
      HasSubstr("BNNSScatterND: index out of range\n  indices[1, 1] = 2, but axis 1 of data "
                "has 2 entries (allowed 0..1); 1 of 4 indices are out of range"));
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: indices that are in range; BNNS has no other "
                                            "rule"));
  EXPECT_EQ(result, before);
}

TEST_F(BnnsScatterNd, RowsByPairs) {
  std::vector<int32_t> lookup = {2, 0, 0, 1};
  const auto input = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, updates);
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, lookup);
  ASSERT_EQ(BNNSScatterND(kSum, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(10, 11, 15, 17, 20, 21, 22, 23, 31, 33, 32, 33));
  ASSERT_EQ(BNNSScatterND(kNone, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(10, 11, 3, 4, 20, 21, 22, 23, 1, 2, 32, 33));
}

TEST_F(BnnsScatterNd, DuplicatesAreAllAdded) {
  std::vector<int32_t> lookup = {1, 1, 1, 1, 1, 1};
  const auto input = describe({BNNSDataLayoutVector, {2}}, updates);
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {2, 3}}, lookup);
  ASSERT_EQ(BNNSScatterND(kSum, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_EQ(result[7], 26);
  ASSERT_EQ(BNNSScatterND(kNone, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_EQ(result[7], 2);
}

// One full lookup vector: the update has no dimensions, which no layout can say.
TEST_F(BnnsScatterNd, OneElement) {
  std::vector<int32_t> lookup = {2, 0, 1};
  const auto indices = describe({BNNSDataLayoutVector, {3}}, lookup);
  for (const LayoutFacts& facts : plain_layouts()) {
    result[9] = 31;
    const auto input =
        describe({facts.layout, std::vector<size_t>(facts.sizes.size(), 1)}, updates);
    ASSERT_EQ(BNNSScatterND(kSum, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
    EXPECT_EQ(result[9], 32);
  }
  const auto two = describe({BNNSDataLayoutVector, {2}}, updates);
  EXPECT_EQ(BNNSScatterND(kSum, &two, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("BNNSScatterND: input has the wrong shape\n  input is [2], but this call "
                        "moves one element"));
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: an input whose sizes are all 1"));
  EXPECT_EQ(result[9], 32);
}

// What a gather takes out, a scatter puts back.
TEST_F(BnnsScatterNd, UndoesAGather) {
  std::vector<int32_t> lookup = {2, 1, 0, 0};
  std::vector<float> rows(4), empty(12, -1);
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, lookup);
  auto picked = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, rows);
  ASSERT_EQ(BNNSGatherND(&output, &indices, &picked, nullptr), 0) << sheaf_last_error();
  auto back = describe({BNNSDataLayout3DFirstMajor, {3, 2, 2}}, empty);
  ASSERT_EQ(BNNSScatterND(kNone, &picked, &indices, &back, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(empty, ElementsAre(10, 11, -1, -1, -1, -1, -1, -1, -1, -1, 32, 33));
}

}  // namespace
}  // namespace sheaf::bnns_tests
