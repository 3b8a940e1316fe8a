// SPDX-License-Identifier: MIT
#include <limits>
#include <string>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two rows of three go to an output of four rows.
class BnnsScatter : public testing::Test {
 protected:
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> picks = {2, 0};
  std::vector<float> result = std::vector<float>(12, 100);
  BNNSNDArrayDescriptor input = describe({BNNSDataLayoutRowMajorMatrix, {3, 2}}, values);
  BNNSNDArrayDescriptor indices = describe({BNNSDataLayoutVector, {2}}, picks);
  BNNSNDArrayDescriptor output = describe({BNNSDataLayoutRowMajorMatrix, {3, 4}}, result);

  int scatter(size_t axis, BNNSReduceFunction op = kNone) {
    return BNNSScatter(axis, op, &input, &indices, &output, nullptr);
  }
  void expect_refused(const std::string& text, size_t axis = 0, BNNSReduceFunction op = kNone,
                      int code = -1003) {
    const std::vector<float> before = result;
    EXPECT_EQ(scatter(axis, op), code);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(sheaf_last_error(), testing::StartsWith("BNNSScatter: "));
    EXPECT_EQ(result, before);
  }
};

TEST_F(BnnsScatter, NullDescriptors) {
  EXPECT_EQ(BNNSScatter(0, kNone, nullptr, &indices, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("BNNSScatter: null descriptor\n  input is null"));
  EXPECT_EQ(BNNSScatter(0, kNone, &input, nullptr, &output, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices is null"));
  EXPECT_EQ(BNNSScatter(0, kNone, &input, &indices, nullptr, nullptr), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is null"));
}

TEST_F(BnnsScatter, OtherReductions) {
  for (uint32_t number = 0; number < 20; ++number) {
    const BNNSReduceFunction op{number};
    if (op != kNone && op != kSum) {
      expect_refused("unsupported reduction\n  op = " + std::to_string(op) +
                         ", but BNNS scatters with two of them",
                     0, op);
    }
  }
  expect_refused(
      "  input Float32 RowMajorMatrix size [3, 2] stride [0, 0]   indices Int32 Vector size [2] "
      "stride [0]   output Float32 RowMajorMatrix size [3, 4] stride [0, 0]\n"
      "  try: BNNSReduceFunctionNone (15) or BNNSReduceFunctionSum (6)",
      0, BNNSReduceFunction{std::numeric_limits<uint32_t>::max()});
}

TEST_F(BnnsScatter, AxisOutOfRange) {
  for (const size_t axis : {size_t{2}, size_t{INT64_MAX}, size_t{SIZE_MAX}}) {
    expect_refused("axis out of range\n  axis = " + std::to_string(axis) +
                       ", but output has 2 dimensions (allowed 0..1)",
                   axis);
  }
}

TEST_F(BnnsScatter, InputOfTheWrongShape) {
  input = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, values);
  expect_refused(
      "BNNSScatter: input has the wrong shape\n"
      "  input is [3, 2], but this call takes [2, 3]\n"
      "  input Float32 RowMajorMatrix size [2, 3] stride [0, 0]   indices Int32 Vector size [2] "
      "stride [0]   output Float32 RowMajorMatrix size [3, 4] stride [0, 0]\n"
      "  try: an input of shape [2, 3]");
}

TEST_F(BnnsScatter, TypesThatDiffer) {
  input.data_type = BNNSDataTypeInt32;
  expect_refused("types differ\n  input is i32, but output is f32");
  input.data_type = BNNSDataTypeFloat32;
  indices.data_type = BNNSDataTypeFloat32;
  expect_refused("indices are not integers\n  indices is f32");
}

TEST_F(BnnsScatter, IndicesOfTheWrongShape) {
  std::vector<int32_t> many(12, 0);
  indices = describe({BNNSDataLayout3DFirstMajor, {1, 1, 2}}, many);
  expect_refused(
      "ranks differ\n  indices has 3 dimensions, but a vector, or 2 dimensions as in "
      "output, are needed");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: BNNSScatterND for tuples of indices"));
  indices = describe({BNNSDataLayoutRowMajorMatrix, {2, 2}}, many);
  expect_refused("shapes do not fit\n  dimension 1 has 2 entries in indices, but 3 in output");
  indices = describe({BNNSDataLayoutRowMajorMatrix, {3, 3}}, many);
  expect_refused("input is [2, 3], but this call takes [3, 3]");
}

TEST_F(BnnsScatter, WholeTextOfABadIndex) {
  picks = {2, 4};
  expect_refused(
      "BNNSScatter: index out of range\n"
      "  indices[1] = 4, but axis 0 of data has 4 entries (allowed 0..3); 1 of 2 indices are out "
      "of range\n"
      "  data f32[4, 3]   indices i32[2]   updates f32[2, 3]   axis 0   output f32[4, 3]\n"
      "  try: indices that are in range; BNNS has no other rule, and none counts from the end;  "
      "picture: sheaf explain 'scatter f32[4,3] i32[2]={0,4} f32[2,3] axis=0",
      0, kNone, -1005);
  picks = {-1, 0};
  expect_refused("indices[0] = -1, but axis 0 of data has 4 entries (allowed 0..3)", 0, kSum,
                 -1005);
}

TEST_F(BnnsScatter, OverlapAndNullMemory) {
  input.data = result.data() + 3;
  expect_refused("output overlaps an input\n  output and updates share memory");
  input.data = values.data();
  indices.data = result.data();
  expect_refused("output and indices share memory");
  indices.data = nullptr;
  expect_refused("null pointer\n  indices has elements, but its pointer is null");
  indices.data = picks.data();
  input.data = nullptr;
  expect_refused("updates has elements, but its pointer is null");
  input.data = values.data();
  output.data = nullptr;
  expect_refused("output has elements, but its pointer is null");
  output.data = result.data();
  output.stride[0] = output.stride[1] = 1;
  expect_refused("output overlaps itself");
}

TEST_F(BnnsScatter, FilterParameters) {
  BNNSFilterParameters parameters = {};
  parameters.flags = 2;
  EXPECT_EQ(BNNSScatter(0, kNone, &input, &indices, &output, &parameters), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("BNNSScatter: unknown flags"));
  parameters.flags = BNNSFlagsUseClientPtr;
  parameters.n_threads = 2;
  EXPECT_EQ(BNNSScatter(0, kNone, &input, &indices, &output, &parameters), 0);
}

// What is not named keeps its value; the rest is replaced, or added to.
TEST_F(BnnsScatter, RowsByAVector) {
  ASSERT_EQ(scatter(0), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(4, 5, 6, 100, 100, 100, 1, 2, 3, 100, 100, 100));
  ASSERT_EQ(scatter(0, kSum), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(8, 10, 12, 100, 100, 100, 2, 4, 6, 100, 100, 100));
}

TEST_F(BnnsScatter, ColumnsByAVector) {
  std::vector<float> columns = {1, 2, 3, 4, 5, 6, 7, 8};  // two columns of four
  input = describe({BNNSDataLayoutRowMajorMatrix, {2, 4}}, columns);
  ASSERT_EQ(scatter(1), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(2, 100, 1, 4, 100, 3, 6, 100, 5, 8, 100, 7));
}

TEST_F(BnnsScatter, IndicesOfTheInputsShape) {
  std::vector<int32_t> rows = {0, 1, 2, 3, 3, 3};
  indices = describe({BNNSDataLayoutRowMajorMatrix, {3, 2}}, rows);
  ASSERT_EQ(scatter(0, kSum), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(101, 100, 100, 100, 102, 100, 100, 100, 103, 104, 105, 106));
}

// Several updates of one element: in the order of the input, the last one wins, or all are added.
TEST_F(BnnsScatter, Duplicates) {
  std::vector<float> base = {100, 200, 300}, updates = {1, 2, 3};
  std::vector<int32_t> twice = {0, 0, 2};
  input = describe({BNNSDataLayoutVector, {3}}, updates);
  indices = describe({BNNSDataLayoutVector, {3}}, twice);
  output = describe({BNNSDataLayoutVector, {3}}, base);
  ASSERT_EQ(scatter(0, kSum), 0) << sheaf_last_error();
  EXPECT_THAT(base, ElementsAre(103, 200, 303));
  ASSERT_EQ(scatter(0), 0) << sheaf_last_error();
  EXPECT_THAT(base, ElementsAre(2, 200, 3));
}

template <class T>
void expect_sum(T start, T update, T expected) {
  std::vector<T> base = {start}, updates = {update};
  std::vector<int64_t> picks = {0};
  const auto input = describe({BNNSDataLayoutVector, {1}}, updates);
  const auto indices = describe({BNNSDataLayoutVector, {1}}, picks);
  auto output = describe({BNNSDataLayoutVector, {1}}, base);
  ASSERT_EQ(BNNSScatter(0, kSum, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_EQ(base[0], expected);
}

TEST_F(BnnsScatter, SumsOfEveryType) {
  expect_sum<float>(1.5f, 0.25f, 1.75f);
  expect_sum<int8_t>(127, 1, -128);  // integers wrap
  expect_sum<uint8_t>(255, 2, 1);
  expect_sum<int16_t>(-3, 5, 2);
  expect_sum<uint16_t>(65535, 1, 0);
  expect_sum<int32_t>(INT32_MAX, 1, INT32_MIN);
  expect_sum<uint32_t>(7, 8, 15);
  expect_sum<int64_t>(INT64_MIN, -1, INT64_MAX);
  expect_sum<uint64_t>(UINT64_MAX, 1, 0);
  std::vector<uint8_t> flags = {0, 1}, set = {1, 0};
  std::vector<int32_t> both = {0, 1};
  input = describe({BNNSDataLayoutVector, {2}}, BNNSDataTypeBoolean, set.data());
  indices = describe({BNNSDataLayoutVector, {2}}, both);
  output = describe({BNNSDataLayoutVector, {2}}, BNNSDataTypeBoolean, flags.data());
  ASSERT_EQ(scatter(0, kSum), 0) << sheaf_last_error();
  EXPECT_THAT(flags, ElementsAre(1, 1));
}

TEST_F(BnnsScatter, ScaledIntegers) {
  std::vector<int32_t> stored = {10, 20}, updates = {1, 2}, both = {0, 1};
  input = describe({BNNSDataLayoutVector, {2}}, updates);
  indices = describe({BNNSDataLayoutVector, {2}}, both);
  output = describe({BNNSDataLayoutVector, {2}}, stored);
  input.data_scale = 0.5f;
  EXPECT_EQ(scatter(0), -1003);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("input and output are scaled differently"));
  output.data_scale = 0.5f;
  ASSERT_EQ(scatter(0, kSum), 0) << sheaf_last_error();  // the scale is that of the sum as well
  EXPECT_THAT(stored, ElementsAre(11, 22));
  input.data_bias = output.data_bias = 3;
  EXPECT_EQ(scatter(0, kSum), -1003);
  EXPECT_THAT(sheaf_last_error(),
              HasSubstr("BNNSScatter: sum of biased integers\n  input and output have data_bias 3, "
                        "which a sum of the stored integers would count twice"));
  EXPECT_THAT(stored, ElementsAre(11, 22));
  ASSERT_EQ(scatter(0), 0) << sheaf_last_error();
  EXPECT_THAT(stored, ElementsAre(1, 2));
}

// A slice into every axis of every layout, with gaps that stay as they are.
TEST(BnnsScatterLayouts, EveryAxisOfEveryLayout) {
  for (const LayoutFacts& facts : plain_layouts()) {
    const size_t rank = facts.sizes.size();
    for (size_t axis = 0; axis < rank; ++axis) {
      SCOPED_TRACE(testing::Message() << std::hex << facts.layout << " axis " << axis);
      std::vector<size_t> sizes(rank, 2);
      const Example output(facts, sizes, 1);
      sizes[axis] = 1;
      const Example input(facts, sizes, 2);
      std::vector<uint16_t> updates = iota<uint16_t>(input.elements), base(output.elements, 999);
      std::vector<uint16_t> expected = base;
      std::vector<uint8_t> pick = {1};
      const auto in = describe(input.shape, updates);
      const auto indices = describe({BNNSDataLayoutVector, {1}}, pick);
      auto out = describe(output.shape, base);
      ASSERT_EQ(BNNSScatter(axis, kNone, &in, &indices, &out, nullptr), 0) << sheaf_last_error();
      for_each_coordinate(sizes, [&](std::vector<size_t> at) {
        const uint16_t value = updates[input.offset(at)];
        at[axis] = 1;
        expected[output.offset(at)] = value;
      });
      EXPECT_EQ(base, expected);
    }
  }
}

}  // namespace
}  // namespace sheaf::bnns_tests
