// SPDX-License-Identifier: MIT
//
// The scatters: what is refused when they are created, then their results.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

#include "frontends/directml/dml.h"
#include "sheaf/scatter.h"

using namespace dml_test;
using testing::HasSubstr;
using testing::StartsWith;

using Floats = std::vector<float>;

namespace {

std::string first_lines(const std::string& text) {
  return text.substr(0, text.find('\n', text.find('\n') + 1));
}

Call sound_elements() { return scatter_elements(f32({3, 2}), u32({2, 2}), f32({2, 2}), 0); }
Call sound_nd() { return scatter_nd(f32({1, 3, 2}), u32({1, 2, 1}), f32({1, 2, 2}), 2, 2); }

// The call padded to every dimension count that has room for it makes `plain`.
template <class MakeCall>
void expect_same_scatter_in_every_padding(const sheaf::Plan& plain, MakeCall make_call) {
  const int least = std::max({plain.data().rank(), plain.indices().rank(), plain.updates().rank()});
  for (int rank = least; rank <= 8; ++rank) {
    const Compiled compiled = compile(make_call(
        f32(padded(plain.data().sizes, rank)), i64(padded(plain.indices().sizes, rank)),
        f32(padded(plain.updates().sizes, rank)), static_cast<UINT>(rank - plain.data().rank())));
    ASSERT_EQ(compiled.op->GetPlan(), plain) << compiled.op->GetPlan().str() << plain.str();
    ASSERT_EQ(compiled.op->GetPlan().json(), plain.json());
  }
}

}  // namespace

TEST(DirectmlScatter, UpdatesAreNotOptional) {
  Call call = sound_elements();
  call.updates = std::nullopt;
  EXPECT_EQ(refusal(call),
            "DML_OPERATOR_SCATTER_ELEMENTS: null pointer\n"
            "  UpdatesTensor is null\n"
            "  InputTensor FLOAT32 {3, 2}   IndicesTensor UINT32 {2, 2}   UpdatesTensor null   "
            "OutputTensor FLOAT32 {3, 2}   Axis 0\n"
            "  try: describe every tensor; none is optional");
  call = sound_nd();
  call.updates = std::nullopt;
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ND: null pointer\n  UpdatesTensor is null");
}

TEST(DirectmlScatter, WholeRefusalOfScatterNd) {
  Call call = sound_nd();
  call.updates->buffer.DataType = DML_TENSOR_DATA_TYPE_INT32;
  EXPECT_EQ(refusal(call),
            "DML_OPERATOR_SCATTER_ND: types differ\n"
            "  UpdatesTensor is INT32, but InputTensor is FLOAT32\n"
            "  InputTensor FLOAT32 {1, 3, 2}   IndicesTensor UINT32 {1, 2, 1}   UpdatesTensor "
            "INT32 {1, 2, 2}   OutputTensor FLOAT32 {1, 3, 2}   InputDimensionCount 2   "
            "IndicesDimensionCount 2\n"
            "  try: the same type; nothing is converted");
}

TEST(DirectmlScatter, WrongTypes) {
  Call call = sound_elements();
  call.output.buffer.DataType = DML_TENSOR_DATA_TYPE_INT32;
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: types differ\n"
            "  OutputTensor is INT32, but InputTensor is FLOAT32");
  call = sound_elements();
  call.updates->buffer.DataType = DML_TENSOR_DATA_TYPE_UINT4;
  EXPECT_THAT(refusal(call), StartsWith("DML_OPERATOR_SCATTER_ELEMENTS: type not supported\n"
                                        "  UpdatesTensor is UINT4, but DML_FEATURE_LEVEL_6_4"));
  call = sound_elements();
  call.indices.buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: type not supported\n"
            "  IndicesTensor is FLOAT32, but DML_FEATURE_LEVEL_6_4 takes UINT32, INT32, UINT64, "
            "INT64");
}

TEST(DirectmlScatter, UpdatesAreCheckedAsEveryTensor) {
  Call call = sound_elements();
  call.updates->buffer.Flags = static_cast<DML_TENSOR_FLAGS>(2);
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: unknown flags\n  UpdatesTensor.Flags = 2");
  call = sound_elements();
  call.updates = f32({2, 0});
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: empty tensor\n  UpdatesTensor.Sizes[1] = 0");
  call = sound_elements();
  call.updates->buffer.TotalTensorSizeInBytes = 12;
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: TotalTensorSizeInBytes too small\n"
            "  UpdatesTensor.TotalTensorSizeInBytes = 12, but its sizes and strides need 16");
  call = sound_elements();
  call.updates = f32({2, 2, 1});
  EXPECT_EQ(first_lines(refusal(call)),
            "DML_OPERATOR_SCATTER_ELEMENTS: dimension counts differ\n"
            "  UpdatesTensor.DimensionCount = 3, but that of InputTensor is 2");
}

TEST(DirectmlScatter, AxisOutOfRange) {
  for (const UINT axis : {2u, 3u, kHuge}) {
    Call call = sound_elements();
    call.attributes = {axis};
    EXPECT_EQ(first_lines(refusal(call)),
              "DML_OPERATOR_SCATTER_ELEMENTS: Axis out of range\n  Axis = " + std::to_string(axis) +
                  ", but only 0 to 1 is possible");
  }
}

TEST(DirectmlScatter, SizesOffTheAxis) {
  EXPECT_EQ(refusal(scatter_elements(f32({3, 2}), u32({2, 1}), f32({2, 1}), 0)),
            "DML_OPERATOR_SCATTER_ELEMENTS: shapes do not fit\n"
            "  IndicesTensor.Sizes[1] = 1, but InputTensor.Sizes[1] = 2; only those of Axis may "
            "differ\n"
            "  InputTensor FLOAT32 {3, 2}   IndicesTensor UINT32 {2, 1}   UpdatesTensor FLOAT32 "
            "{2, 1}   OutputTensor FLOAT32 {3, 2}   Axis 0\n"
            "  try: equal sizes; to change a part, bind one buffer as input and output, with "
            "smaller Sizes and its own Strides");
  EXPECT_EQ(check(scatter_elements(f32({3, 2}), u32({7, 2}), f32({7, 2}), 0)), S_FALSE);
}

TEST(DirectmlScatter, UpdatesOfTheWrongShape) {
  EXPECT_EQ(refusal(scatter_elements(f32({3, 2}), u32({2, 2}), f32({3, 2}), 0)),
            "DML_OPERATOR_SCATTER_ELEMENTS: updates have the wrong shape\n"
            "  UpdatesTensor.Sizes = {3, 2}, but this operator takes {2, 2}\n"
            "  InputTensor FLOAT32 {3, 2}   IndicesTensor UINT32 {2, 2}   UpdatesTensor FLOAT32 "
            "{3, 2}   OutputTensor FLOAT32 {3, 2}   Axis 0\n"
            "  try: UpdatesTensor.Sizes = {2, 2}");
  EXPECT_THAT(refusal(scatter_nd(f32({1, 3, 2}), u32({1, 2, 1}), f32({2, 1, 2}), 2, 2)),
              HasSubstr("UpdatesTensor.Sizes = {2, 1, 2}, but this operator takes {1, 2, 2}"));
}

TEST(DirectmlScatter, OutputOfTheWrongShape) {
  Call call = sound_elements();
  call.output = f32({2, 2});
  EXPECT_EQ(refusal(call),
            "DML_OPERATOR_SCATTER_ELEMENTS: output has the wrong shape\n"
            "  OutputTensor.Sizes = {2, 2}, but this operator makes {3, 2}\n"
            "  InputTensor FLOAT32 {3, 2}   IndicesTensor UINT32 {2, 2}   UpdatesTensor FLOAT32 "
            "{2, 2}   OutputTensor FLOAT32 {2, 2}   Axis 0\n"
            "  try: OutputTensor.Sizes = {3, 2}, those of InputTensor");
  call = sound_nd();
  call.output = f32({3, 1, 2});
  EXPECT_THAT(refusal(call), HasSubstr("OutputTensor.Sizes = {3, 1, 2}, but this operator makes "
                                       "{1, 3, 2}"));
}

TEST(DirectmlScatter, OutputThatOverlapsItself) {
  Call call = sound_elements();
  call.output = f32({3, 2}, {0, 1});
  EXPECT_THAT(refusal(call), StartsWith("DML_OPERATOR_SCATTER_ELEMENTS: output overlaps itself\n"));
}

TEST(DirectmlScatter, DimensionCountsOfScatterNd) {
  const auto counts = [](UINT input, UINT indices) {
    Call call = sound_nd();
    call.attributes = {input, indices};
    return first_lines(refusal(call));
  };
  const std::string name = "DML_OPERATOR_SCATTER_ND: ";
  for (const UINT wrong : {0u, 4u, kHuge}) {
    EXPECT_EQ(counts(wrong, 2), name +
                                    "InputDimensionCount out of range\n  InputDimensionCount = " +
                                    std::to_string(wrong) + ", but only 1 to 3 is possible");
    EXPECT_EQ(counts(2, wrong),
              name + "IndicesDimensionCount out of range\n  IndicesDimensionCount = " +
                  std::to_string(wrong) + ", but only 1 to 3 is possible");
  }
  EXPECT_EQ(counts(1, 2),
            name +
                "InputTensor has more dimensions than InputDimensionCount says\n"
                "  InputDimensionCount = 1, but InputTensor.Sizes[1] = 3 stands to the left of "
                "them and is not 1");
  EXPECT_EQ(counts(2, 1),
            name +
                "IndicesTensor has more dimensions than IndicesDimensionCount says\n"
                "  IndicesDimensionCount = 1, but IndicesTensor.Sizes[1] = 2 stands to the left "
                "of them and is not 1");
}

TEST(DirectmlScatter, TuplesThatAreTooLongAndUpdatesWithoutRoom) {
  EXPECT_THAT(refusal(scatter_nd(f32({1, 1, 2}), u32({1, 1, 3}), f32({1, 1, 1}), 2, 2)),
              HasSubstr("holds tuples of 3, but data has 2 dimensions for them"));
  EXPECT_EQ(first_lines(refusal(scatter_nd(f32({2, 2, 2}), u32({2, 2, 1}), f32({2, 2, 2}), 3, 3))),
            "DML_OPERATOR_SCATTER_ND: too few dimensions\n"
            "  the updates would be {2, 2, 2, 2}, but DimensionCount is 3");
}

TEST(DirectmlScatter, ElementsInEveryPadding) {
  const sheaf::Dims data{2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    sheaf::Dims indices = data;
    indices[axis] = 7;
    const sheaf::Plan plain =
        sheaf::plan_scatter_elements({sheaf::f32, data}, {sheaf::i64, indices},
                                     {sheaf::f32, indices}, {.axis = axis, .rule = kRule});
    expect_same_scatter_in_every_padding(
        plain, [&](const Tensor& in, const Tensor& index, const Tensor& updates, UINT padding) {
          return scatter_elements(in, index, updates, static_cast<UINT>(axis) + padding);
        });
  }
}

TEST(DirectmlScatter, NdInEveryPadding) {
  const sheaf::Dims data{2, 3, 4};
  for (int tuple = 1; tuple <= 3; ++tuple) {
    sheaf::Dims updates{5};
    for (int d = tuple; d < 3; ++d) {
      updates.push_back(data[d]);
    }
    const sheaf::Plan plain = sheaf::plan_scatter_nd({sheaf::f32, data}, {sheaf::i64, {5, tuple}},
                                                     {sheaf::f32, updates}, {.rule = kRule});
    expect_same_scatter_in_every_padding(
        plain, [](const Tensor& in, const Tensor& index, const Tensor& updates_given, UINT) {
          return scatter_nd(in, index, updates_given, 3, 2);
        });
  }
}

// DirectML calls duplicates invalid, and its first example on SCATTER has one: the later update
// stays.
TEST(DirectmlScatter, TheLastOfTwoUpdatesWins) {
  EXPECT_EQ(run(scatter_elements(f32({5}), u32({4}), f32({4}), 0), Floats{0, 1, 2, 3, 4},
                Uints{3, 0, 3, 1}, Floats{5, 6, 7, 8}),
            (Floats{6, 8, 2, 7, 4}));
  EXPECT_EQ(run(scatter_nd(f32({1, 3}), u32({3, 1}), f32({1, 3}), 1, 2), Floats{0, 1, 2},
                Uints{1, 1, 0}, Floats{5, 6, 7}),
            (Floats{7, 6, 2}));
}

// Two updates for each column of a 3 x 3 tensor.
TEST(DirectmlScatter, RowsOfIndicesAlongTheFirstAxis) {
  EXPECT_EQ(run(scatter_elements(f32({3, 3}), u32({2, 3}), f32({2, 3}), 0), Floats(9, 0.0f),
                Uints{1, 0, 2, 0, 2, 1}, Floats{10, 11, 12, 20, 21, 22}),
            (Floats{20, 11, 0, 10, 0, 22, 0, 21, 12}));
}

// DirectML's example: {8}, {4, 1} and {4}, here padded to one DimensionCount.
TEST(DirectmlScatter, NdElementsOfAVector) {
  EXPECT_EQ(run(scatter_nd(f32({1, 8}), u32({4, 1}), f32({1, 4}), 1, 2),
                Floats{1, 2, 3, 4, 5, 6, 7, 8}, Uints{4, 3, 1, 7}, Floats{9, 10, 11, 12}),
            (Floats{1, 11, 3, 10, 9, 6, 7, 12}));
}

// The page's formula would make {…, 5, 6, 7} of {3, 4, 5, 6, 7} and triples.
TEST(DirectmlScatter, NdUpdatesHaveTheDimensionsAfterTheTuple) {
  const auto call = [](Uints updates) {
    return scatter_nd(f32({3, 4, 5, 6, 7}), u32({1, 1, 1, 2, 3}), f32(std::move(updates)), 5, 3);
  };
  EXPECT_EQ(check(call({1, 1, 2, 6, 7})), S_FALSE);
  EXPECT_THAT(refusal(call({1, 2, 5, 6, 7})), HasSubstr("this operator takes {1, 1, 2, 6, 7}"));
}

TEST(DirectmlScatter, CountsMayBeTheDimensionCount) {
  EXPECT_EQ(run(scatter_nd(f32({2, 2}), i32({2, 2}), f32({1, 2}), 2, 2), Floats{1, 2, 3, 4},
                std::vector<int32_t>{0, -1, -1, 0}, Floats{5, 6}),
            (Floats{1, 5, 6, 4}));
}

// Each coordinate to its own axis, after counting from the end.
TEST(DirectmlScatter, OutOfRangeIndicesAreClamped) {
  EXPECT_EQ(run(scatter_elements(f32({4}), i64({3}), f32({3}), 0), Floats{0, 1, 2, 3},
                std::vector<int64_t>{INT64_MIN, -2, INT64_MAX}, Floats{5, 6, 7}),
            (Floats{5, 1, 6, 7}));
  EXPECT_EQ(run(scatter_nd(f32({2, 3}), i64({2, 2}), f32({1, 2}), 2, 2), Floats(6, 0.0f),
                std::vector<int64_t>{0, 7, 7, 0}, Floats{5, 6}),
            (Floats{0, 0, 5, 6, 0, 0}));
  EXPECT_EQ(run(scatter_elements(f32({1, 1, 1, 3}), u32({1, 1, 1, 1}), f32({1, 1, 1, 1}), 3),
                Floats{1, 2, 3}, Uints{UINT32_MAX}, Floats{9}, DML_FEATURE_LEVEL_2_0),
            (Floats{1, 2, 9}));
}
