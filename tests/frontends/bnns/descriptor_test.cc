// SPDX-License-Identifier: MIT
//
// Descriptors: what is refused, by code, text and untouched output; then where each layout keeps
// its elements.
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// BNNSGather of two rows out of three, sound until `spoil` has changed a descriptor.
class BnnsDescriptor : public testing::Test {
 protected:
  void expect_refused(const std::string& text) {
    EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), SHEAF_BNNS_INVALID_ARGUMENT);
    EXPECT_THAT(sheaf_last_error(), HasSubstr(text));
    EXPECT_THAT(sheaf_last_error(), testing::StartsWith("BNNSGather: "));
    EXPECT_THAT(result, Each(-1));
  }

  std::vector<float> values = {0, 1, 10, 11, 20, 21};
  std::vector<int32_t> rows = {2, 0};
  std::vector<float> result = {-1, -1, -1, -1};
  BNNSNDArrayDescriptor input = describe({BNNSDataLayout2DFirstMajor, {3, 2}}, values);
  BNNSNDArrayDescriptor indices = describe({BNNSDataLayoutVector, {2}}, rows);
  BNNSNDArrayDescriptor output = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, result);
};

TEST_F(BnnsDescriptor, WholeTextOfARefusal) {
  input.layout = BNNSDataLayout{0x12345};
  indices.data_type = BNNSDataType{7};
  expect_refused(
      "BNNSGather: unknown layout\n"
      "  input.layout = 0x12345 is no BNNSDataLayout\n"
      "  input Float32 layout 0x12345   indices type 0x7 Vector size [2] stride [0]   "
      "output Float32 2DFirstMajor size [2, 2] stride [0, 0]\n"
      "  try: one of the constants of sheaf/bnns.h");
}

TEST_F(BnnsDescriptor, NullDescriptors) {
  EXPECT_EQ(BNNSGather(0, nullptr, &indices, &output, nullptr), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "BNNSGather: null descriptor\n"
               "  input is null\n"
               "  input null   indices Int32 Vector size [2] stride [0]   "
               "output Float32 2DFirstMajor size [2, 2] stride [0, 0]\n"
               "  try: a descriptor of the tensor");
  EXPECT_EQ(BNNSGather(0, &input, nullptr, &output, nullptr), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices is null"));
  EXPECT_EQ(BNNSGather(0, &input, &indices, nullptr, nullptr), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("output is null"));
  EXPECT_EQ(BNNSGatherND(nullptr, nullptr, nullptr, nullptr), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("BNNSGatherND: null descriptor\n  input is null\n"));
}

TEST_F(BnnsDescriptor, NullData) {
  input.data = nullptr;
  expect_refused("null pointer\n  data has elements, but its pointer is null");
  input.data = values.data();
  indices.data = nullptr;
  expect_refused("indices has elements, but its pointer is null");
  indices.data = rows.data();
  output.data = nullptr;
  expect_refused("output has elements, but its pointer is null");
}

TEST_F(BnnsDescriptor, UnknownLayouts) {
  for (const uint32_t layout : {0u, 1u, 2u, 0x8000u, 0x10001u, 0x18002u, 0x20002u, 0x28002u,
                                0x30004u, 0x40003u, 0x98000u, 0x98001u, 0xffffffffu}) {
    input.layout = BNNSDataLayout{layout};
    expect_refused("is no BNNSDataLayout");
    EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayout{layout}), SIZE_MAX);
  }
}

TEST_F(BnnsDescriptor, LayoutsWithoutPlainElements) {
  input.layout = BNNSDataLayoutFullyConnectedSparse;
  expect_refused("input.layout: FullyConnectedSparse stores a sparse matrix in a form of its own");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: a 2DFirstMajor or 2DLastMajor descriptor"));
  input.layout = BNNSDataLayoutMHA_DHK;
  expect_refused("MHA_DHK is described by sizes and strides whose orders disagree");
  input.layout = BNNSDataLayoutConvolutionWeightsOIHrWr;
  expect_refused("ConvolutionWeightsOIHrWr stores each kernel rotated by half a turn");
  input.layout = BNNSDataLayoutConvolutionWeightsIOHrWr;
  expect_refused("ConvolutionWeightsIOHrWr stores each kernel rotated by half a turn");
  input.layout = BNNSDataLayoutConvolutionWeightsOIHW_Pack32;
  expect_refused("ConvolutionWeightsOIHW_Pack32 packs 32 output channels together");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("try: a 4DFirstMajor or 4DLastMajor descriptor"));
}

TEST_F(BnnsDescriptor, TypesWithoutWholeBytes) {
  const auto expect_type = [&](BNNSDataType type, const char* text) {
    input.data_type = type;
    output.data_type = type;
    expect_refused(text);
  };
  expect_type(BNNSDataTypeInt1, "Int1 elements are smaller than a byte");
  expect_type(BNNSDataTypeInt2, "Int2 elements are smaller than a byte");
  expect_type(BNNSDataTypeInt4, "Int4 elements are smaller than a byte");
  expect_type(BNNSDataTypeUInt1, "UInt1 elements are smaller than a byte");
  expect_type(BNNSDataTypeUInt2, "UInt2 elements are smaller than a byte");
  expect_type(BNNSDataTypeUInt3, "UInt3 elements are smaller than a byte");
  expect_type(BNNSDataTypeUInt4, "UInt4 elements are smaller than a byte");
  expect_type(BNNSDataTypeUInt6, "UInt6 elements are smaller than a byte");
  expect_type(BNNSDataTypeIndexed1, "Indexed1 values stand in a table");
  expect_type(BNNSDataTypeIndexed2, "Indexed2 values stand in a table");
  expect_type(BNNSDataTypeIndexed4, "Indexed4 values stand in a table");
  expect_type(BNNSDataTypeIndexed8, "Indexed8 values stand in a table");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("unsupported element type"));
  for (const uint32_t type : {0u, 1u, 0x10000u, 0x10040u, 0x18020u, 0x20000u, 0x20080u, 0x40000u,
                              0x80000u, 0x100000u, 0x100001u, 0xffffffffu}) {
    expect_type(BNNSDataType{type}, "is no BNNSDataType");
  }
}

TEST_F(BnnsDescriptor, SizesThatNoMemoryHas) {
  input.size[1] = SIZE_MAX;
  expect_refused("size too large\n  input.size[1] = 18446744073709551615, but at most 2^63 - 1");
  input.size[1] = size_t{1} << 63;
  expect_refused("input.size[1] = 9223372036854775808");
  input.size[1] = INT64_MAX;
  expect_refused("tensor too large");
  input.size[0] = size_t{1} << 40;
  input.size[1] = size_t{1} << 40;
  expect_refused("tensor too large\n  the sizes of data multiply to more than 2^63 - 1");
}

TEST_F(BnnsDescriptor, AnEmptyDimensionDoesNotHideTheOthers) {
  input.size[0] = 0;
  input.size[1] = size_t{1} << 62;
  input.stride[0] = 4;
  expect_refused("input.stride[1] = 0 stands for 4611686018427387904 * 4, which is more than");
}

TEST_F(BnnsDescriptor, StridesThatNoMemoryHas) {
  input.stride[0] = SIZE_MAX;
  expect_refused("stride too large\n  input.stride[0] = 18446744073709551615");
  input.stride[0] = 1;
  input.stride[1] = INT64_MAX;
  expect_refused("the strides of data reach further than 2^63 - 1 bytes");
  input.stride[0] = size_t{1} << 62;
  input.stride[1] = 0;
  expect_refused(
      "tensor too large\n"
      "  input.stride[1] = 0 stands for 2 * 4611686018427387904, which is more than 2^63 - 1");
}

// Sound as numbers, but no pointer can be that far from another.
TEST_F(BnnsDescriptor, StridesThatLeaveTheAddressSpace) {
  input.data_type = output.data_type = BNNSDataTypeInt8;
  input.size[0] = 2;
  input.stride[1] = INT64_MAX - 2;
  expect_refused(
      "tensor too large\n  the strides of data lead from its pointer out of the address");
}

// An empty tensor has no element that its strides could misplace.
TEST_F(BnnsDescriptor, StridesOfAnEmptyTensorAreNotUsed) {
  input.size[1] = output.size[1] = 0;
  for (BNNSNDArrayDescriptor* descriptor : {&input, &output}) {
    descriptor->stride[0] = descriptor->stride[1] = size_t{1} << 62;
  }
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
}

TEST_F(BnnsDescriptor, StridesBeyondTheRankAreNotRead) {
  for (size_t k = 2; k < 8; ++k) {
    input.size[k] = input.stride[k] = SIZE_MAX;
  }
  ASSERT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(20, 21, 0, 1));
}

TEST_F(BnnsDescriptor, DecreasingStrides) {
  input.stride[0] = 2;  // the rows' own stride where it would stand in other libraries
  input.stride[1] = 1;
  expect_refused("strides decrease\n  input.stride[1] = 1, but stride[0] = 2");
  EXPECT_THAT(sheaf_last_error(), HasSubstr("stride[0] belongs to the last dimension"));
  input.stride[0] = 0;
  input.stride[1] = 0;
  output.stride[0] = 3;
  output.stride[1] = 2;
  expect_refused("output.stride[1] = 2, but stride[0] = 3");
}

TEST_F(BnnsDescriptor, OutputThatOverlapsItself) {
  output.stride[0] = 1;
  output.stride[1] = 1;  // not decreasing, and yet two rows in one spot
  expect_refused("output overlaps itself");
}

TEST_F(BnnsDescriptor, OutputThatOverlapsAnInput) {
  output.data = values.data() + 2;
  expect_refused("output and data share memory");
  EXPECT_THAT(values, ElementsAre(0, 1, 10, 11, 20, 21));
  output.data = rows.data();
  expect_refused("output and indices share memory");
  EXPECT_THAT(rows, ElementsAre(2, 0));
}

TEST_F(BnnsDescriptor, TypesOfInputAndOutputDiffer) {
  output.data_type = BNNSDataTypeInt32;
  expect_refused("types differ\n  output is i32, but data is f32");
  output.data_type = BNNSDataTypeFloat16;
  expect_refused("output is f16, but data is f32");
}

TEST_F(BnnsDescriptor, IndicesThatAreNoIntegers) {
  indices.data_type = BNNSDataTypeFloat32;
  expect_refused("indices are not integers\n  indices is f32");
  indices.data_type = BNNSDataTypeBoolean;
  expect_refused("indices is bool");
}

TEST_F(BnnsDescriptor, ScaledIntegers) {
  input.data_type = output.data_type = BNNSDataTypeInt32;
  input.data_scale = 0.5F;
  expect_refused(
      "input and output are scaled differently\n"
      "  input has data_scale 0.5 and data_bias 0, output has 1 and 0; nothing is converted");
  output.data_scale = 0.5F;
  output.data_bias = 3;
  expect_refused("output has 0.5 and 3");
  input.data_bias = std::numeric_limits<float>::quiet_NaN();
  output.data_bias = std::numeric_limits<float>::quiet_NaN();
  expect_refused("are scaled differently");  // NaN equals nothing: nobody can mean it
}

TEST_F(BnnsDescriptor, ScaledIndices) {
  indices.data_scale = 2;
  expect_refused("indices are scaled\n  indices has data_scale 2 and data_bias 0");
  indices.data_scale = 1;
  indices.data_bias = -1;
  expect_refused("indices has data_scale 1 and data_bias -1");
}

TEST_F(BnnsDescriptor, UnknownFilterFlags) {
  BNNSFilterParameters parameters = {};
  parameters.flags = 6;
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, &parameters), SHEAF_BNNS_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("unknown flags\n  filter_params->flags = 6, but only "
                                            "BNNSFlagsUseClientPtr (1) is known"));
  EXPECT_THAT(result, Each(-1));
}

int refused_alloc(void**, size_t, size_t) { return 12; }
void never_freed(void*) { FAIL() << "free_memory was called"; }

// Fields without a meaning for a gather, all set: as if they were not there.
TEST_F(BnnsDescriptor, FieldsThatAreIgnored) {
  float table = 1;
  for (BNNSNDArrayDescriptor* descriptor : {&input, &indices, &output}) {
    descriptor->flags = BNNSNDArrayFlagBackpropAccumulate;
    descriptor->table_data = &table;
    descriptor->table_data_type = BNNSDataTypeFloat32;
  }
  input.data_scale = 7;  // of a float type
  output.data_bias = 7;
  indices.data_scale = 1;
  BNNSFilterParameters parameters = {BNNSFlagsUseClientPtr, 0, refused_alloc, never_freed};
  for (const size_t threads : {size_t{0}, size_t{1}, size_t{2}, size_t{SIZE_MAX}}) {
    result.assign(4, -1);
    parameters.n_threads = threads;
    ASSERT_EQ(BNNSGather(0, &input, &indices, &output, &parameters), 0) << sheaf_last_error();
    EXPECT_THAT(result, ElementsAre(20, 21, 0, 1));
  }
}

TEST_F(BnnsDescriptor, SameScaleOnBothSidesIsCopied) {
  std::vector<int32_t> whole = {1, 2, 3};
  std::vector<int32_t> picked = {0, 0};
  input = describe({BNNSDataLayoutVector, {3}}, whole);
  output = describe({BNNSDataLayoutVector, {2}}, picked);
  input.data_scale = output.data_scale = 0.25F;
  input.data_bias = output.data_bias = 8;
  ASSERT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(picked, ElementsAre(3, 1));
  input.data_scale = 0;  // read as 1
  output.data_scale = 1;
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
}

TEST_F(BnnsDescriptor, EmptyTensors) {
  output.size[0] = 0;
  indices.size[0] = 0;
  output.data = indices.data = nullptr;
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  output.size[0] = 2;
  indices.size[0] = 2;
  indices.data = rows.data();
  input.size[1] = output.size[1] = 0;  // rows without elements: the indices still count
  input.data = nullptr;
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), 0) << sheaf_last_error();
  rows[0] = 3;
  EXPECT_EQ(BNNSGather(0, &input, &indices, &output, nullptr), SHEAF_BNNS_INDEX_OUT_OF_RANGE);
}

TEST(BnnsLayout, Ranks) {
  for (const LayoutFacts& facts : plain_layouts()) {
    EXPECT_EQ(BNNSDataLayoutGetRank(facts.layout), facts.sizes.size()) << facts.layout;
  }
  EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayoutFullyConnectedSparse), 2u);
  EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayoutMHA_DHK), 3u);
  EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayoutConvolutionWeightsOIHrWr), 4u);
  EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayoutConvolutionWeightsIOHrWr), 4u);
  EXPECT_EQ(BNNSDataLayoutGetRank(BNNSDataLayoutConvolutionWeightsOIHW_Pack32), 4u);
}

// Gathers along every axis of every layout, and looks up each element by the layout's own formula.
void check_axis(const LayoutFacts& facts, size_t axis, size_t gap, bool default_strides) {
  std::vector<size_t> sizes;
  for (size_t d = 0; d < facts.sizes.size(); ++d) {
    sizes.push_back(2 + d % 3);
  }
  Example input(facts, sizes, gap);
  std::vector<int64_t> picks = {static_cast<int64_t>(sizes[axis]) - 1, 0, 1};
  sizes[axis] = picks.size();
  Example output(facts, sizes, gap);
  std::vector<int32_t> values = iota<int32_t>(input.elements);
  std::vector<int32_t> result(output.elements, -1);
  if (default_strides) {
    input.shape.stride.clear();
    output.shape.stride.clear();
  }
  const auto in = describe(input.shape, values);
  const auto idx = describe({BNNSDataLayoutVector, {picks.size()}}, picks);
  auto out = describe(output.shape, result);
  ASSERT_EQ(BNNSGather(axis, &in, &idx, &out, nullptr), 0) << sheaf_last_error();
  const Example from(facts, input.logical, gap);
  const Example to(facts, output.logical, gap);
  size_t written = 0;
  for_each_coordinate(output.logical, [&](std::vector<size_t> at) {
    const size_t target = to.offset(at);
    at[axis] = static_cast<size_t>(picks[at[axis]]);
    ASSERT_EQ(result[target], values[from.offset(at)]) << "layout " << facts.layout;
    result[target] = -1;
    ++written;
  });
  EXPECT_EQ(written, std::accumulate(sizes.begin(), sizes.end(), size_t{1}, std::multiplies<>()));
  EXPECT_THAT(result, Each(-1)) << "wrote between the elements";
}

TEST(BnnsLayout, EveryAxisOfEveryLayout) {
  for (const LayoutFacts& facts : plain_layouts()) {
    for (size_t axis = 0; axis < facts.sizes.size(); ++axis) {
      SCOPED_TRACE(testing::Message()
                   << "layout 0x" << std::hex << facts.layout << " axis " << axis);
      check_axis(facts, axis, 0, false);
      check_axis(facts, axis, 0, true);
      check_axis(facts, axis, 3, false);
    }
  }
}

// The zeros between given strides continue from the one before.
TEST(BnnsLayout, ZeroStridesAmongOthers) {
  std::vector<int16_t> values = iota<int16_t>(24);
  std::vector<int32_t> picks = {1};
  std::vector<int16_t> result(6, -1);
  // 3DFirstMajor (2, 3, 2): stride[0] is of the last dimension, stride[1] of the middle one. Every
  // other element is used; the first dimension steps over 3 rows of 4.
  const auto in = describe({BNNSDataLayout3DFirstMajor, {2, 3, 2}, {2, 0, 0}}, values);
  const auto idx = describe({BNNSDataLayoutVector, {1}}, picks);
  auto out = describe({BNNSDataLayout3DFirstMajor, {1, 3, 2}}, result);
  ASSERT_EQ(BNNSGather(0, &in, &idx, &out, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(12, 14, 16, 18, 20, 22));
}

// Equal strides do not decrease: rows of a sliding window are fine to read.
TEST(BnnsLayout, InputRowsMayOverlap) {
  std::vector<float> values = {1, 2, 3, 4};
  std::vector<int32_t> picks = {2, 0};
  std::vector<float> result(4, -1);
  const auto in = describe({BNNSDataLayout2DFirstMajor, {3, 2}, {1, 1}}, values);
  const auto idx = describe({BNNSDataLayoutVector, {2}}, picks);
  auto out = describe({BNNSDataLayout2DFirstMajor, {2, 2}}, result);
  ASSERT_EQ(BNNSGather(0, &in, &idx, &out, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(3, 4, 1, 2));
}

TEST(BnnsLayout, InputAndOutputMayHaveDifferentLayouts) {
  std::vector<float> values = {0, 1, 10, 11, 20, 21};
  std::vector<int32_t> picks = {2, 1};
  std::vector<float> result(4, -1);
  const auto in = describe({BNNSDataLayoutRowMajorMatrix, {2, 3}}, values);
  const auto idx = describe({BNNSDataLayout1DFirstMajor, {2}}, picks);
  auto out = describe({BNNSDataLayoutColumnMajorMatrix, {2, 2}}, result);
  ASSERT_EQ(BNNSGather(0, &in, &idx, &out, nullptr), 0) << sheaf_last_error();
  EXPECT_THAT(result, ElementsAre(20, 10, 21, 11));
}

}  // namespace
}  // namespace sheaf::bnns_tests
