// SPDX-License-Identifier: MIT
//
// What BNNSCopy, BNNSTranspose and BNNSTile refuse. tests/compat runs them as programs do.
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
  BNNSNDArrayDescriptor whole = to({2, 3});
  matrix.data = nullptr;
  EXPECT_THAT(refused(BNNSCopy(&whole, &matrix, nullptr)), HasSubstr("input.data is null"));
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
  EXPECT_NE(BNNSTile(&matrix, &none, nullptr), SHEAF_BNNS_OK);
  BNNSNDArrayDescriptor broken = to({2, 4});
  EXPECT_THAT(refused(BNNSTile(&matrix, &broken, nullptr)),
              HasSubstr("dimension 1 has 4 entries in output, which is no multiple of input's 3"));
  BNNSNDArrayDescriptor twice = to({4, 6});
  EXPECT_EQ(BNNSTile(&matrix, &twice, nullptr), SHEAF_BNNS_OK) << sheaf_last_error();
  EXPECT_EQ(output[23], 6);
}

}  // namespace
}  // namespace sheaf::bnns_tests
