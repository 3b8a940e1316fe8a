// SPDX-License-Identifier: MIT
//
// What BNNSCopy, BNNSTranspose and BNNSTile refuse. tests/compat runs them as programs do.
#include "frontends/bnns/call.h"
#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::HasSubstr;

class Copies : public testing::Test {
 protected:
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<float> output = std::vector<float>(24, -1);
  BNNSNDArrayDescriptor matrix = describe({BNNSDataLayout2DFirstMajor, {2, 3}}, values);

  BNNSNDArrayDescriptor to(std::vector<size_t> size) {
    return describe({BNNSDataLayout2DFirstMajor, std::move(size)}, output);
  }
  // The error's text; the output must be untouched.
  std::string refused(int status) {
    EXPECT_EQ(status, SHEAF_BNNS_INVALID_ARGUMENT);
    EXPECT_THAT(output, testing::Each(-1));
    return sheaf_last_error();
  }
};

TEST_F(Copies, RefuseNullPointers) {
  BNNSNDArrayDescriptor empty = to({2, 3});
  empty.data = nullptr;
  EXPECT_THAT(refused(BNNSCopy(&empty, &matrix, nullptr)), HasSubstr("output.data is null"));
  EXPECT_THAT(refused(BNNSTile(&matrix, &empty, nullptr)), HasSubstr("output.data is null"));
  EXPECT_THAT(refused(BNNSTranspose(&empty, &matrix, 0, 1, nullptr)),
              HasSubstr("output.data is null"));
  BNNSNDArrayDescriptor whole = to({2, 3});
  matrix.data = nullptr;
  EXPECT_THAT(refused(BNNSCopy(&whole, &matrix, nullptr)), HasSubstr("input.data is null"));
  EXPECT_THAT(refused(BNNSTile(&matrix, &whole, nullptr)), HasSubstr("input.data is null"));
  EXPECT_THAT(refused(BNNSTranspose(&whole, &matrix, 0, 1, nullptr)),
              HasSubstr("input.data is null"));
}

TEST_F(Copies, RefuseOtherShapes) {
  BNNSNDArrayDescriptor other = to({3, 2});
  EXPECT_THAT(refused(BNNSCopy(&other, &matrix, nullptr)),
              HasSubstr("output is [3, 2], but this call makes [2, 3]"));
  BNNSNDArrayDescriptor same = to({2, 3});
  EXPECT_THAT(refused(BNNSTranspose(&same, &matrix, 0, 1, nullptr)),
              HasSubstr("output is [2, 3], but this call makes [3, 2]"));
}

TEST_F(Copies, TilesAreWhole) {
  BNNSNDArrayDescriptor smaller = to({1, 3});
  EXPECT_THAT(refused(BNNSTile(&matrix, &smaller, nullptr)),
              HasSubstr("dimension 0 has 1 entries in output, which is no multiple of input's 2"));
  BNNSNDArrayDescriptor none = to({0, 3});
  EXPECT_THAT(refused(BNNSTile(&matrix, &none, nullptr)),
              HasSubstr("dimension 0 has 0 entries in output, which is no multiple of input's 2"));
  // No number of repeats follows from nothing; and there is no remainder of a division by 0.
  const BNNSNDArrayDescriptor empty = describe({BNNSDataLayout2DFirstMajor, {0, 3}}, values);
  EXPECT_THAT(refused(BNNSTile(&empty, &none, nullptr)),
              HasSubstr("dimension 0 has 0 entries in output, which is no multiple of input's 0"));
  BNNSNDArrayDescriptor broken = to({2, 4});
  EXPECT_THAT(refused(BNNSTile(&matrix, &broken, nullptr)),
              HasSubstr("dimension 1 has 4 entries in output, which is no multiple of input's 3"));
  BNNSNDArrayDescriptor twice = to({4, 6});
  EXPECT_EQ(BNNSTile(&matrix, &twice, nullptr), SHEAF_BNNS_OK) << sheaf_last_error();
  EXPECT_EQ(output[23], 6);
}

// Columns, then rows, as for every other function.
TEST_F(Copies, TilesOfRowMajorMatricesHaveTheirColumnsFirst) {
  const auto input = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, values);  // 1 2, 3 4, 5 6
  BNNSNDArrayDescriptor wide = describe({BNNSDataLayoutRowMajorMatrix, {4, 3}}, output);
  EXPECT_EQ(BNNSTile(&input, &wide, nullptr), SHEAF_BNNS_OK) << sheaf_last_error();
  output.resize(12);
  EXPECT_THAT(output, testing::ElementsAre(1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6));
}

TEST_F(Copies, TilesKeepTheNumberOfDimensions) {
  BNNSNDArrayDescriptor flat = describe({BNNSDataLayoutVector, {6}}, output);
  refused(BNNSTile(&matrix, &flat, nullptr));
  const BNNSNDArrayDescriptor vector = describe({BNNSDataLayoutVector, {6}}, values);
  BNNSNDArrayDescriptor wide = to({6, 1});
  refused(BNNSTile(&vector, &wide, nullptr));
}

TEST_F(Copies, ConvertByValue) {
  const std::vector<int32_t> numbers = {3, -1};
  std::vector<int32_t> memory = numbers;
  const BNNSNDArrayDescriptor integers = describe({BNNSDataLayoutVector, {2}}, memory);
  BNNSNDArrayDescriptor floats = describe({BNNSDataLayoutVector, {2}}, output);
  EXPECT_EQ(BNNSCopy(&floats, &integers, nullptr), SHEAF_BNNS_OK) << sheaf_last_error();
  EXPECT_EQ(output[0], 3);
  EXPECT_EQ(output[1], -1);
}

TEST_F(Copies, SizesInBytesReachTheLastElement) {
  EXPECT_EQ(BNNSNDArrayGetDataSize(&matrix), 24U);
  const auto gaps = describe({BNNSDataLayout2DFirstMajor, {2, 3}, {1, 10}}, values);
  EXPECT_EQ(BNNSNDArrayGetDataSize(&gaps), 4U * (10 + 3));
  const auto huge = describe({BNNSDataLayout2DFirstMajor, {2, 3}, {1, size_t{1} << 62}}, values);
  EXPECT_EQ(BNNSNDArrayGetDataSize(&huge), SIZE_MAX);
  EXPECT_EQ(BNNSNDArrayGetDataSize(nullptr), SIZE_MAX);
}

// Programs tell errors apart by these numbers.
TEST(ReturnCode, EveryStatusHasItsOwn) {
  EXPECT_EQ(bnns::return_code(SHEAF_OK), SHEAF_BNNS_OK);
  EXPECT_EQ(bnns::return_code(SHEAF_INVALID_ARGUMENT), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_EQ(bnns::return_code(SHEAF_INDEX_OUT_OF_RANGE), SHEAF_BNNS_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(bnns::return_code(SHEAF_UNSUPPORTED), SHEAF_BNNS_UNSUPPORTED);
  EXPECT_EQ(bnns::return_code(SHEAF_OUT_OF_MEMORY), SHEAF_BNNS_OUT_OF_MEMORY);
  for (const sheaf_status status :
       {SHEAF_DEVICE_ERROR, SHEAF_FILE_ERROR, SHEAF_CANCELLED, SHEAF_INTERNAL_ERROR}) {
    EXPECT_EQ(bnns::return_code(status), SHEAF_BNNS_INTERNAL_ERROR);
  }
}

}  // namespace
}  // namespace sheaf::bnns_tests
