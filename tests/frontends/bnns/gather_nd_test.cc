// SPDX-License-Identifier: MIT
#include <string>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class BnnsGatherNd : public testing::Test {
 protected:
  std::vector<float> values = {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  BNNSNDArrayDescriptor input = describe({BNNSDataLayout3DFirstMajor, {3, 2, 2}}, values);
  std::vector<float> result = std::vector<float>(12, -1);
};

TEST_F(BnnsGatherNd, LookupVectorLongerThanTheRank) {
  std::vector<int32_t> lookup = {0, 0, 0, 0};
  const auto indices = describe({BNNSDataLayoutVector, {4}}, lookup);
  auto output = describe({BNNSDataLayoutVector, {1}}, result);
  EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(
      sheaf_last_error(),
      HasSubstr("BNNSGatherND: index tuples too long\n  the last dimension of indices holds "
                "tuples of 4, but data has 3 dimensions for them"));
  EXPECT_THAT(result, Each(-1));
}

TEST_F(BnnsGatherNd, OutputOfTheWrongShape) {
  std::vector<int32_t> lookup = {1};
  const auto indices = describe({BNNSDataLayoutVector, {1}}, lookup);
  auto output = describe({BNNSDataLayout2DFirstMajor, {4, 1}}, result);
  EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [4, 1], but this call makes [2, 2]"));
  output = describe({BNNSDataLayout3DFirstMajor, {1, 2, 2}}, result);  // no padding with ones
  EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [1, 2, 2], but this call makes [2, 2]"));
  EXPECT_THAT(result, Each(-1));
}

TEST_F(BnnsGatherNd, IndexOutOfRange) {
  std::vector<int32_t> lookup = {0, 1, 2, 2, 3, 0};
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {3, 2}}, lookup);
  auto output = describe({BNNSDataLayout2DFirstMajor, {3, 2}}, result);
  EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1005);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("BNNSGatherND: index out of range\n  indices[1, 1] = 2, but axis 1 of data "
                        "has 2 entries (allowed 0..1); 2 of 6 indices are out of range"));
  lookup = {0, 1, 2, 1, -1, 0};
  EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1005);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices[2, 0] = -1, but axis 0 of data has 3 entries "
                                            "(allowed 0..2); 1 of 6"));
  EXPECT_THAT(result, Each(-1));
}

// A vector that names one element has a result without dimensions, which no layout can say.
TEST_F(BnnsGatherNd, OneElementIntoAnyOutputOfOne) {
  std::vector<int32_t> lookup = {2, 0, 1};
  const auto indices = describe({BNNSDataLayoutVector, {3}}, lookup);
  for (const LayoutFacts& facts : plain_layouts()) {
    result.assign(12, -1);
    auto output = describe({facts.layout, std::vector<size_t>(facts.sizes.size(), 1)}, result);
    ASSERT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), 0) << sheaf_last_error();
    EXPECT_EQ(result[0], 31);
    EXPECT_EQ(result[1], -1);
  }
}

TEST_F(BnnsGatherNd, OneElementIntoAnOutputOfMore) {
  std::vector<int32_t> lookup = {2, 0, 1};
  const auto indices = describe({BNNSDataLayoutVector, {3}}, lookup);
  for (const size_t size : {size_t{0}, size_t{2}}) {
    auto output = describe({BNNSDataLayout2DFirstMajor, {1, size}}, result);
    EXPECT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), -1003);
    EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [1, " + std::to_string(size) +
                                              "], but this call moves one element"));
    EXPECT_THAT(sheaf_last_error(), HasSubstr("try: an output whose sizes are all 1"));
  }
  EXPECT_THAT(result, Each(-1));
}

TEST_F(BnnsGatherNd, EmptyLookupVectorsTakeTheWholeInput) {
  const auto indices = describe({BNNSDataLayoutVector, {0}}, BNNSDataTypeInt32, nullptr);
  auto output = describe({BNNSDataLayout3DFirstMajor, {3, 2, 2}}, result);
  ASSERT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_EQ(result, values);
}

// Three lookup vectors (1, 0), (2, 1), (0, 0), as each layout of indices spells them.
void expect_rows(const BNNSNDArrayDescriptor& input, const Shape& shape,
                 std::vector<int32_t> lookup) {
  std::vector<float> rows(6, -1);
  const auto indices = describe(shape, lookup);
  auto output = describe({BNNSDataLayout2DFirstMajor, {3, 2}}, rows);
  ASSERT_EQ(BNNSGatherND(&input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(rows, ElementsAre(20, 21, 32, 33, 10, 11));
}

TEST_F(BnnsGatherNd, LookupVectorsLieAlongTheLastDimension) {
  expect_rows(input, {BNNSDataLayout2DFirstMajor, {3, 2}}, {1, 0, 2, 1, 0, 0});
  expect_rows(input, {BNNSDataLayout2DLastMajor, {3, 2}}, {1, 2, 0, 0, 1, 0});
  expect_rows(input, {BNNSDataLayoutColumnMajorMatrix, {3, 2}}, {1, 2, 0, 0, 1, 0});
  // The last dimension of a row-major matrix is its columns, which size[0] counts.
  expect_rows(input, {BNNSDataLayoutRowMajorMatrix, {2, 3}}, {1, 0, 2, 1, 0, 0});
}

// One tuple length after the other, on every layout of input and output of the same family.
TEST(BnnsGatherNdLayouts, EveryTupleLengthOfEveryLayout) {
  for (const LayoutFacts& facts : plain_layouts()) {
    const size_t rank = facts.sizes.size();
    const Example input(facts, std::vector<size_t>(rank, 2), 1);
    std::vector<uint16_t> values = iota<uint16_t>(input.elements);
    const auto in = describe(input.shape, values);
    for (size_t length = 1; length < rank; ++length) {
      SCOPED_TRACE(testing::Message() << std::hex << facts.layout << " length " << length);
      // `length` grid dimensions of size 1 keep the rank, and with it the layout, of the output.
      std::vector<size_t> grid(length, 1);
      std::vector<size_t> sizes = grid;
      sizes.resize(rank, 2);
      const Example output(facts, sizes);
      std::vector<int64_t> tuple(length, 1);
      tuple[0] = 0;
      grid.push_back(length);
      const BNNSDataLayout layout =
          static_cast<BNNSDataLayout>(BNNSDataLayout1DFirstMajor + ((grid.size() - 1) << 16));
      const auto indices = describe({layout, grid}, tuple);
      std::vector<uint16_t> result(output.elements, 999);
      auto out = describe(output.shape, result);
      ASSERT_EQ(BNNSGatherND(&in, &indices, &out, nullptr), 0) << sheaf_last_error();
      for_each_coordinate(sizes, [&](std::vector<size_t> at) {
        const size_t target = output.offset(at);
        for (size_t c = 0; c < length; ++c) {
          at[c] = static_cast<size_t>(tuple[c]);
        }
        EXPECT_EQ(result[target], values[input.offset(at)]);
      });
    }
  }
}

}  // namespace
}  // namespace sheaf::bnns_tests
