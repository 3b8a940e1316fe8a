// SPDX-License-Identifier: MIT
//
// Attributes and shapes: right alignment, cropping, padding.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

#include "frontends/directml/dml.h"
#include "sheaf/gather.h"

using namespace dml_test;
using sheaf::Negative;
using sheaf::OutOfRange;
using sheaf::TensorSpec;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string what(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string detail(const std::string& text) {
  const size_t first = text.find('\n') + 3;
  return text.substr(first, text.find('\n', first) - first);
}

sheaf::Dims first(const sheaf::Dims& sizes, int count) {
  sheaf::Dims result;
  for (int d = 0; d < count; ++d) {
    result.push_back(sizes[d]);
  }
  return result;
}

// The call padded to every dimension count that has room for it makes `plain`.
template <class MakeCall>
void expect_same_in_every_padding(const sheaf::Plan& plain, MakeCall make_call) {
  const int least =
      std::max({plain.data().rank(), plain.indices().rank(), plain.output().rank(), 1});
  for (int rank = least; rank <= 8; ++rank) {
    const Compiled compiled = compile(make_call(
        f32(padded(plain.data().sizes, rank)), i64(padded(plain.indices().sizes, rank)),
        f32(padded(plain.output().sizes, rank)), static_cast<UINT>(rank - plain.data().rank())));
    ASSERT_EQ(compiled.op->GetPlan(), plain) << compiled.op->GetPlan().str() << plain.str();
  }
}

const sheaf::Dims kData{2, 3, 4}, kIndices{5, 1, 6};

}  // namespace

TEST(DirectmlShapes, AxisOutOfRange) {
  for (const UINT axis : {2u, 3u, kHuge}) {
    const std::string text = refusal(gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), axis, 1));
    EXPECT_EQ(what(text), "DML_OPERATOR_GATHER: Axis out of range");
    EXPECT_EQ(detail(text), "Axis = " + std::to_string(axis) + ", but only 0 to 1 is possible");
    EXPECT_EQ(what(refusal(gather_elements(f32({3, 2}), u32({3, 2}), f32({3, 2}), axis))),
              "DML_OPERATOR_GATHER_ELEMENTS: Axis out of range");
  }
}

TEST(DirectmlShapes, IndexDimensionsOutOfRange) {
  for (const UINT count : {3u, kHuge}) {
    const std::string text = refusal(gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), 0, count));
    EXPECT_EQ(what(text), "DML_OPERATOR_GATHER: IndexDimensions out of range");
    EXPECT_EQ(detail(text),
              "IndexDimensions = " + std::to_string(count) + ", but only 0 to 2 is possible");
  }
}

// DirectML leaves this open, and its drivers give different results.
TEST(DirectmlShapes, IndexDimensionsThatIgnoreIndices) {
  EXPECT_EQ(refusal(gather(f32({3, 3}), u32({3, 2}), f32({3, 2}), 1, 1)),
            "DML_OPERATOR_GATHER: IndicesTensor has more dimensions than IndexDimensions says\n"
            "  IndexDimensions = 1, but IndicesTensor.Sizes[0] = 3 stands to the left of them and "
            "is not 1\n"
            "  InputTensor FLOAT32 {3, 3}   IndicesTensor UINT32 {3, 2}   OutputTensor FLOAT32 "
            "{3, 2}   Axis 1   IndexDimensions 1\n"
            "  try: a larger IndexDimensions, or size 1 there");
  EXPECT_EQ(detail(refusal(gather(f32({3, 4}), u32({1, 2}), f32({1, 3}), 1, 0))),
            "IndexDimensions = 0, but IndicesTensor.Sizes[1] = 2 stands to the left of them and is "
            "not 1");
}

TEST(DirectmlShapes, GatherNeedsRoomForItsOutput) {
  EXPECT_EQ(refusal(gather(f32({3, 2}), u32({2, 2}), f32({2, 2}), 0, 2)),
            "DML_OPERATOR_GATHER: too few dimensions\n"
            "  the output would be {2, 2, 2}, but DimensionCount is 2\n"
            "  InputTensor FLOAT32 {3, 2}   IndicesTensor UINT32 {2, 2}   OutputTensor FLOAT32 "
            "{2, 2}   Axis 0   IndexDimensions 2\n"
            "  try: pad all tensors to 3 dimensions with leading ones");
  const Uints eight(8, 2);
  EXPECT_THAT(refusal(gather(f32(eight), u32(eight), f32(eight), 0, 8)),
              HasSubstr("try: merge dimensions; 8 is the most"));
}

// A dimension of size 1 at the axis or behind it is none of the padding.
TEST(DirectmlShapes, OnlyLeadingOnesBeforeTheAxisAreCropped) {
  EXPECT_EQ(detail(refusal(gather(f32({1, 2}), u32({2, 2}), f32({2, 2}), 0, 2))),
            "the output would be {2, 2, 2}, but DimensionCount is 2");
  EXPECT_EQ(detail(refusal(gather(f32({2, 1, 3}), u32({1, 2, 2}), f32({2, 2, 2}), 2, 2))),
            "the output would be {2, 1, 2, 2}, but DimensionCount is 3");
  EXPECT_EQ(check(gather(f32({1, 1, 3}), u32({1, 2, 2}), f32({1, 2, 2}), 2, 2)), S_FALSE);
}

// Leading ones that IndexDimensions counts are dropped only where there is no room for them.
TEST(DirectmlShapes, LeadingOnesOfTheIndices) {
  EXPECT_EQ(check(gather(f32({1, 3, 2}), u32({1, 1, 4}), f32({3, 1, 4}), 2, 2)), S_FALSE);
  EXPECT_THAT(refusal(gather(f32({1, 3, 2}), u32({1, 1, 4}), f32({1, 3, 4}), 2, 2)),
              HasSubstr("this operator makes {3, 1, 4}"));
  EXPECT_EQ(check(gather(f32({3, 2}), u32({1, 1}), f32({3, 1}), 1, 2)), S_FALSE);
  EXPECT_THAT(refusal(gather(f32({3, 2}), u32({1, 1}), f32({1, 3}), 1, 2)),
              HasSubstr("this operator makes {3, 1}"));
}

TEST(DirectmlShapes, WrongOutputs) {
  EXPECT_EQ(detail(refusal(gather(f32({3, 4}), u32({1, 1}), f32({3, 1}), 1, 0))),
            "OutputTensor.Sizes = {3, 1}, but this operator makes {1, 3}");
  EXPECT_EQ(detail(refusal(gather_elements(f32({3, 2}), u32({4, 2}), f32({3, 2}), 0))),
            "OutputTensor.Sizes = {3, 2}, but this operator makes {4, 2}");
  EXPECT_EQ(detail(refusal(gather_nd(f32({1, 2, 2}), u32({1, 3, 1}), f32({3, 1, 2}), 2, 2))),
            "OutputTensor.Sizes = {3, 1, 2}, but this operator makes {1, 3, 2}");
}

TEST(DirectmlShapes, GatherElementsSizesOffTheAxis) {
  for (const Uints& indices : {Uints{3, 1}, Uints{3, 3}}) {
    const std::string text = refusal(gather_elements(f32({3, 2}), u32(indices), f32(indices), 0));
    EXPECT_EQ(what(text), "DML_OPERATOR_GATHER_ELEMENTS: shapes do not fit");
    EXPECT_THAT(detail(text), HasSubstr("InputTensor.Sizes[1] = 2; only those of Axis may differ"));
  }
  EXPECT_EQ(check(gather_elements(f32({3, 2}), u32({7, 2}), f32({7, 2}), 0)), S_FALSE);
}

TEST(DirectmlShapes, DimensionCountsOfGatherNd) {
  const auto counts = [](UINT input, UINT indices) {
    return refusal(gather_nd(f32({1, 2, 2}), u32({1, 2, 2}), f32({1, 1, 2}), input, indices));
  };
  for (const UINT wrong : {0u, 4u, kHuge}) {
    EXPECT_EQ(detail(counts(wrong, 2)),
              "InputDimensionCount = " + std::to_string(wrong) + ", but only 1 to 3 is possible");
    EXPECT_EQ(detail(counts(2, wrong)),
              "IndicesDimensionCount = " + std::to_string(wrong) + ", but only 1 to 3 is possible");
  }
  EXPECT_EQ(detail(counts(1, 2)),
            "InputDimensionCount = 1, but InputTensor.Sizes[1] = 2 stands to the left of them and "
            "is not 1");
  EXPECT_EQ(detail(counts(2, 1)),
            "IndicesDimensionCount = 1, but IndicesTensor.Sizes[1] = 2 stands to the left of them "
            "and is not 1");
}

TEST(DirectmlShapes, BatchDimensionCountIsBelowBothCounts) {
  const auto batch = [](UINT count) {
    return refusal(gather_nd1(f32({2, 2, 2}), u32({1, 2, 1}), f32({1, 2, 2}), {3, 2, count}));
  };
  for (const UINT wrong : {2u, 3u, kHuge}) {
    EXPECT_EQ(detail(batch(wrong)),
              "BatchDimensionCount = " + std::to_string(wrong) + ", but only 0 to 1 is possible");
  }
}

TEST(DirectmlShapes, BatchesMustAgree) {
  EXPECT_EQ(refusal(gather_nd1(f32({2, 3}), u32({3, 1}), f32({1, 3}), {2, 2, 1})),
            "DML_OPERATOR_GATHER_ND1: batch dimensions differ\n"
            "  dimension 0 is a batch dimension, but data has 2 entries there and indices 3\n"
            "  data f32[2, 3]   indices u32[3, 1]   batch_dims 1   output f32[1, 3]\n"
            "  try: batch dimensions of equal size, or fewer batch_dims");
}

TEST(DirectmlShapes, TuplesThatAreTooLong) {
  EXPECT_EQ(detail(refusal(gather_nd(f32({1, 1, 2}), u32({1, 1, 3}), f32({1, 1, 1}), 2, 2))),
            "the last dimension of indices holds tuples of 3, but data has 2 dimensions for them");
  EXPECT_EQ(detail(refusal(gather_nd1(f32({2, 2}), u32({2, 2}), f32({1, 2}), {2, 2, 1}))),
            "the last dimension of indices holds tuples of 2, but data has 1 dimension for them");
}

TEST(DirectmlShapes, GatherNdNeedsRoomForItsOutput) {
  const std::string text = refusal(gather_nd(f32({2, 2, 2}), u32({2, 2, 1}), f32({2, 2, 2}), 3, 3));
  EXPECT_EQ(what(text), "DML_OPERATOR_GATHER_ND: too few dimensions");
  EXPECT_EQ(detail(text), "the output would be {2, 2, 2, 2}, but DimensionCount is 3");
  // Leading ones that were counted are not dropped: only GATHER has such an example.
  EXPECT_EQ(detail(refusal(gather_nd(f32({2, 2, 2}), u32({1, 1, 1}), f32({1, 2, 2}), 3, 3))),
            "the output would be {1, 1, 2, 2}, but DimensionCount is 3");
}

// A call padded to eight dimensions is the plain call.
TEST(DirectmlShapes, PaddedToEightDimensionsIsThePlainPlan) {
  const auto same = [](Call call, const sheaf::Plan& plain) {
    const Compiled compiled = compile(std::move(call));
    const sheaf::Plan& padded = compiled.op->GetPlan();
    EXPECT_EQ(padded, plain);
    EXPECT_EQ(padded.str(), plain.str());
    EXPECT_EQ(padded.json(), plain.json());
  };
  const TensorSpec data(sheaf::f32, {5, 6, 7});
  same(gather(f32({1, 1, 1, 1, 1, 5, 6, 7}), i64({1, 1, 1, 1, 1, 1, 3, 4}),
              f32({1, 1, 1, 1, 5, 3, 4, 7}), 6, 2),
       sheaf::plan_gather(data, {sheaf::i64, {3, 4}}, {.axis = 1, .rule = kRule}));
  same(gather(f32({1, 1, 1, 1, 1, 5, 6, 7}), i64({1, 1, 1, 1, 1, 1, 1, 1}),
              f32({1, 1, 1, 1, 1, 1, 5, 6}), 7, 0),
       sheaf::plan_gather(data, {sheaf::i64, {}}, {.axis = 2, .rule = kRule}));
  same(gather_elements(f32({1, 1, 1, 1, 1, 5, 6, 7}), i32({1, 1, 1, 1, 1, 5, 2, 7}),
                       f32({1, 1, 1, 1, 1, 5, 2, 7}), 6),
       sheaf::plan_gather_elements(data, {sheaf::i32, {5, 2, 7}}, {.axis = 1, .rule = kRule}));
  same(gather_nd(f32({1, 1, 1, 1, 1, 5, 6, 7}), i64({1, 1, 1, 1, 1, 1, 9, 2}),
                 f32({1, 1, 1, 1, 1, 1, 9, 7}), 3, 2),
       sheaf::plan_gather_nd(data, {sheaf::i64, {9, 2}}, {.rule = kRule}));
  same(gather_nd1(f32({1, 1, 1, 1, 1, 5, 6, 7}), i64({1, 1, 1, 1, 1, 5, 9, 1}),
                  f32({1, 1, 1, 1, 1, 5, 9, 7}), {3, 3, 1}),
       sheaf::plan_gather_nd(data, {sheaf::i64, {5, 9, 1}}, {.batch_dims = 1, .rule = kRule}));
}

TEST(DirectmlShapes, GatherInEveryPadding) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (UINT axis = 0; axis < static_cast<UINT>(rank); ++axis) {
      for (int count = 0; count <= 3; ++count) {
        const sheaf::Plan plain =
            sheaf::plan_gather({sheaf::f32, first(kData, rank)},
                               {sheaf::i64, first(kIndices, count)}, {.axis = axis, .rule = kRule});
        expect_same_in_every_padding(
            plain, [&](const Tensor& in, const Tensor& index, const Tensor& out, UINT padding) {
              return gather(in, index, out, axis + padding, static_cast<UINT>(count));
            });
      }
    }
  }
}

TEST(DirectmlShapes, GatherElementsInEveryPadding) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (int axis = 0; axis < rank; ++axis) {
      sheaf::Dims indices = first(kData, rank);
      indices[axis] = 7;
      const sheaf::Plan plain = sheaf::plan_gather_elements(
          {sheaf::f32, first(kData, rank)}, {sheaf::i64, indices}, {.axis = axis, .rule = kRule});
      expect_same_in_every_padding(
          plain, [&](const Tensor& in, const Tensor& index, const Tensor& out, UINT padding) {
            return gather_elements(in, index, out, static_cast<UINT>(axis) + padding);
          });
    }
  }
}

TEST(DirectmlShapes, GatherNdInEveryPadding) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (int batch = 0; batch < rank; ++batch) {
      for (int tuple = 1; tuple <= rank - batch; ++tuple) {
        sheaf::Dims indices = first(kData, batch);
        indices.push_back(5);
        indices.push_back(tuple);
        const sheaf::Plan plain =
            sheaf::plan_gather_nd({sheaf::f32, first(kData, rank)}, {sheaf::i64, indices},
                                  {.batch_dims = batch, .rule = kRule});
        expect_same_in_every_padding(
            plain, [&](const Tensor& in, const Tensor& index, const Tensor& out, UINT) {
              return gather_nd1(in, index, out,
                                {static_cast<UINT>(rank), static_cast<UINT>(indices.size()),
                                 static_cast<UINT>(batch)});
            });
      }
    }
  }
}

// With strides of 0 for the padding, and strides of its own for the rest.
TEST(DirectmlShapes, PaddedAndStridedIsThePlainPlan) {
  const Compiled compiled =
      compile(gather(f32({1, 1, 3, 2}, {0, 0, 10, 2}), u32({1, 1, 2, 4}, {0, 0, 0, 1}),
                     f32({1, 2, 4, 2}, {0, 64, 8, 1}), 2, 2));
  const sheaf::Plan plain =
      sheaf::plan_gather({sheaf::f32, {3, 2}, {10, 2}}, {sheaf::u32, {2, 4}, {0, 1}},
                         TensorSpec{sheaf::f32, {2, 4, 2}, {64, 8, 1}}, {.axis = 0, .rule = kRule});
  EXPECT_EQ(compiled.op->GetPlan(), plain);
  EXPECT_EQ(compiled.op->GetPlan().str(), plain.str());
}

TEST(DirectmlShapes, ThePlanSaysClamp) {
  const Compiled compiled = compile(gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), 0, 1));
  EXPECT_THAT(compiled.op->GetPlan().str(),
              StartsWith("gather, 8 bytes per step, u32 indices, negative from_end, out of range "
                         "clamp\n"));
}
