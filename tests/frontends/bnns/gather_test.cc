// SPDX-License-Identifier: MIT
#include <limits>
#include <string>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Matrix {
  std::vector<float> values = {10, 20, 30, 40, 50, 60, 70, 80, 90};
  BNNSNDArrayDescriptor descriptor = describe({BNNSDataLayoutRowMajorMatrix, {3, 3}}, values);
};

TEST(BnnsGather, AxisOutOfRange) {
  Matrix input;
  std::vector<int32_t> picks = {0};
  std::vector<float> result(3, -1);
  const auto indices = describe({BNNSDataLayoutVector, {1}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 1}}, result);
  for (const size_t axis : {size_t{2}, size_t{8}, size_t{INT64_MAX}, size_t{SIZE_MAX}}) {
    EXPECT_EQ(BNNSGather(axis, &input.descriptor, &indices, &output, nullptr), -1003);
    EXPECT_THAT(sheaf_last_error(),
                HasSubstr("BNNSGather: axis out of range\n  axis = " + std::to_string(axis) +
                          ", but input has 2 dimensions (allowed 0..1)"));
    EXPECT_THAT(result, Each(-1));
  }
}

TEST(BnnsGather, OutputOfTheWrongShape) {
  Matrix input;
  std::vector<int32_t> picks = {0, 1};
  std::vector<float> result(9, -1);
  const auto indices = describe({BNNSDataLayoutVector, {2}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 3}}, result);
  EXPECT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), -1003);
  EXPECT_STREQ(sheaf_last_error(),
               "BNNSGather: output has the wrong shape\n"
               "  output is [3, 3], but this call makes [2, 3]\n"
               "  data f32[3, 3]   indices i32[2]   axis 0   output f32[3, 3]\n"
               "  try: an output of shape [2, 3]");
  output = describe({BNNSDataLayoutVector, {6}}, result);
  EXPECT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [6], but this call makes [2, 3]"));
  EXPECT_THAT(result, Each(-1));
}

TEST(BnnsGather, IndicesOfTheWrongRank) {
  Matrix input;
  std::vector<int32_t> picks(8, 0);
  std::vector<float> result(9, -1);
  const auto indices = describe({BNNSDataLayout3DFirstMajor, {2, 2, 2}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 3}}, result);
  EXPECT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), -1003);
  EXPECT_THAT(
      sheaf_last_error(),
      HasSubstr("ranks differ\n  indices has 3 dimensions, but a vector, or 2 dimensions as "
                "in input, are needed"));
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: BNNSGatherND for tuples of indices"));
}

// Off the axis both shapes must be the same: smaller ones, which other libraries take, are refused.
TEST(BnnsGather, ElementsOfTheWrongShape) {
  Matrix input;
  std::vector<int32_t> picks(12, 0);
  std::vector<float> result(12, -1);
  for (const size_t rows : {size_t{2}, size_t{4}}) {
    const auto indices = describe({BNNSDataLayoutRowMajorMatrix, {2, rows}}, picks);
    auto output = describe({BNNSDataLayoutRowMajorMatrix, {2, rows}}, result);
    EXPECT_EQ(BNNSGather(1, &input.descriptor, &indices, &output, nullptr), -1003);
    EXPECT_THAT(sheaf_last_error(),
                HasSubstr("shapes do not fit\n  dimension 0 has " + std::to_string(rows) +
                          " entries in indices, but 3 in input"));
  }
  const auto indices = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 3}}, result);
  EXPECT_EQ(BNNSGather(1, &input.descriptor, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is [3, 3], but this call makes [3, 2]"));
  EXPECT_THAT(result, Each(-1));
}

template <class T>
void expect_bad_index(T index, const std::string& text) {
  Matrix input;
  std::vector<T> picks = {0, 1, index, 2};
  std::vector<float> result(12, -1);
  const auto indices = describe({BNNSDataLayoutVector, {4}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 4}}, result);
  EXPECT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), -1005);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("BNNSGather: index out of range\n  indices[2] = " + text +
                        ", but axis 0 of data has 3 entries (allowed 0..2); 1 of 4 indices are out "
                        "of range"));
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("  try: indices that are in range; BNNS has no other rule, and none counts "
                        "from the end;  picture: sheaf explain 'gather f32[3,3] "));
  EXPECT_THAT(result, Each(-1));
}

TEST(BnnsGather, IndexOutOfRange) {
  expect_bad_index<int32_t>(3, "3");
  expect_bad_index<int32_t>(-1, "-1");
  expect_bad_index<int32_t>(-3, "-3");
  expect_bad_index<int32_t>(INT32_MAX, "2147483647");
  expect_bad_index<int8_t>(-128, "-128");
  expect_bad_index<uint8_t>(255, "255");
  expect_bad_index<int16_t>(-2, "-2");
  expect_bad_index<uint16_t>(65535, "65535");
  expect_bad_index<uint32_t>(0xffffffffu, "4294967295");
  expect_bad_index<int64_t>(INT64_MIN, "-9223372036854775808");
  expect_bad_index<int64_t>(int64_t{1} << 32, "4294967296");
  expect_bad_index<uint64_t>(UINT64_MAX, "18446744073709551615");
}

template <class T>
void expect_index_type_works() {
  Matrix input;
  std::vector<T> picks = {2, 0};
  std::vector<float> result(6, -1);
  const auto indices = describe({BNNSDataLayoutVector, {2}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {3, 2}}, result);
  ASSERT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(70, 80, 90, 10, 20, 30));
}

TEST(BnnsGather, EveryIntegerTypeIndexes) {
  expect_index_type_works<int8_t>();
  expect_index_type_works<int16_t>();
  expect_index_type_works<int32_t>();
  expect_index_type_works<int64_t>();
  expect_index_type_works<uint8_t>();
  expect_index_type_works<uint16_t>();
  expect_index_type_works<uint32_t>();
  expect_index_type_works<uint64_t>();
}

// Bits are copied: NaN payloads of every float type included.
void expect_value_type_works(BNNSDataType type, size_t bytes) {
  std::vector<uint8_t> values(4 * bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<uint8_t>(0xff - i);
  }
  std::vector<uint8_t> result(2 * bytes, 0);
  std::vector<int32_t> picks = {3, 1};
  const auto input = describe({BNNSDataLayoutVector, {4}}, type, values.data());
  const auto indices = describe({BNNSDataLayoutVector, {2}}, picks);
  auto output = describe({BNNSDataLayoutVector, {2}}, type, result.data());
  ASSERT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  for (size_t b = 0; b < bytes; ++b) {
    EXPECT_EQ(result[b], values[3 * bytes + b]);
    EXPECT_EQ(result[bytes + b], values[bytes + b]);
  }
}

TEST(BnnsGather, EveryTypeOfWholeBytesIsMoved) {
  for (const BNNSDataType type : {BNNSDataTypeInt8, BNNSDataTypeUInt8, BNNSDataTypeBoolean}) {
    expect_value_type_works(type, 1);
  }
  for (const BNNSDataType type :
       {BNNSDataTypeInt16, BNNSDataTypeUInt16, BNNSDataTypeFloat16, BNNSDataTypeBFloat16}) {
    expect_value_type_works(type, 2);
  }
  for (const BNNSDataType type : {BNNSDataTypeInt32, BNNSDataTypeUInt32, BNNSDataTypeFloat32}) {
    expect_value_type_works(type, 4);
  }
  for (const BNNSDataType type : {BNNSDataTypeInt64, BNNSDataTypeUInt64}) {
    expect_value_type_works(type, 8);
  }
}

// Three rows of pairs of column numbers, in the layout in which Apple's page has them.
TEST(BnnsGather, IndicesOfTheOutputsShape) {
  Matrix input;
  std::vector<int32_t> picks = {2, 1, 0, 0, 1, 2};
  std::vector<float> result(6, -1);
  const auto indices = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, picks);
  auto output = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, result);
  ASSERT_EQ(BNNSGather(1, &input.descriptor, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(30, 20, 40, 40, 80, 90));
}

TEST(BnnsGather, IndicesOfTheOutputsShapeAlongRows) {
  Matrix input;
  std::vector<int32_t> picks = {2, 1, 0};
  std::vector<float> result(3, -1);
  const auto indices = describe({BNNSDataLayout2DFirstMajor, {1, 3}}, picks);
  auto output = describe({BNNSDataLayout2DFirstMajor, {1, 3}}, result);
  ASSERT_EQ(BNNSGather(0, &input.descriptor, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(70, 50, 30));
}

// A vector of indices into a vector is both forms at once, which agree.
TEST(BnnsGather, VectorOfAVector) {
  std::vector<float> values = {5, 6, 7};
  std::vector<int32_t> picks = {2, 2, 0, 1};
  std::vector<float> result(4, -1);
  const auto input = describe({BNNSDataLayoutVector, {3}}, values);
  const auto indices = describe({BNNSDataLayoutVector, {4}}, picks);
  auto output = describe({BNNSDataLayoutVector, {4}}, result);
  ASSERT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(7, 7, 5, 6));
}

TEST(BnnsGather, SuccessKeepsTheLastError) {
  EXPECT_EQ(BNNSGather(0, nullptr, nullptr, nullptr, nullptr), -1003);
  const std::string before = sheaf_last_error();
  expect_index_type_works<int32_t>();
  EXPECT_EQ(sheaf_last_error(), before);
}

}  // namespace
}  // namespace sheaf::bnns_tests
