// SPDX-License-Identifier: MIT
//
// Every refusal of infer.cc with its whole text, then the sizes that come out.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "helpers/limits.h"
#include "helpers/refusal.h"
#include "plan/request.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

std::string gather_refusal(const TensorSpec& data, const TensorSpec& indices,
                           const GatherOptions& options = {}) {
  return refusal([&] { plan_gather(data, indices, options); });
}
std::string elements_refusal(const TensorSpec& data, const TensorSpec& indices,
                             const GatherElementsOptions& options = {}) {
  return refusal([&] { plan_gather_elements(data, indices, options); });
}
std::string nd_refusal(const TensorSpec& data, const TensorSpec& indices,
                       const GatherNdOptions& options = {}) {
  return refusal([&] { plan_gather_nd(data, indices, options); });
}
std::string output_refusal(const TensorSpec& output) {
  return refusal([&] { plan_gather({f32, {3, 5}}, {i64, {2}}, output); });
}

TEST(InferTensor, StridesAreOneForEachDimension) {
  EXPECT_EQ(gather_refusal({f32, {3, 5}, {5}}, {i64, {4}}),
            "gather: strides do not match sizes\n"
            "  data has 2 sizes but 1 strides\n"
            "  data f32[3, 5] strides [5]   indices i64[4]   axis 0\n"
            "  try: give one stride, in elements, for each dimension");
  EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {4}, {1, 1}}),
            "gather: strides do not match sizes\n"
            "  indices has 1 sizes but 2 strides\n"
            "  data f32[3, 5]   indices i64[4] strides [1, 1]   axis 0\n"
            "  try: give one stride, in elements, for each dimension");
  EXPECT_EQ(output_refusal({f32, {2, 5}, {}}),
            "gather: strides do not match sizes\n"
            "  output has 2 sizes but 0 strides\n"
            "  data f32[3, 5]   indices i64[2]   axis 0   output f32[2, 5] strides []\n"
            "  try: give one stride, in elements, for each dimension");
}

TEST(InferTensor, SizesAreNotNegative) {
  EXPECT_EQ(gather_refusal({f32, {3, -5}, {5, 1}}, {i64, {4}}),
            "gather: negative size\n"
            "  data.sizes[1] = -5, but sizes are 0 or more\n"
            "  data f32[3, -5] strides [5, 1]   indices i64[4]   axis 0\n"
            "  try: check how the shape was computed");
  EXPECT_EQ(gather_refusal({f32, {3}}, {i64, {kLeast}, {1}}),
            "gather: negative size\n"
            "  indices.sizes[0] = -9223372036854775808, but sizes are 0 or more\n"
            "  data f32[3]   indices i64[-9223372036854775808]   axis 0\n"
            "  try: check how the shape was computed");
}

TEST(InferTensor, ElementCountsFit) {
  const int64_t half = int64_t{1} << 32;
  EXPECT_EQ(gather_refusal({u8, {half, half}, {0, 1}}, {i64, {4}}),
            "gather: tensor too large\n"
            "  the sizes of data multiply to more than 2^63 - 1\n"
            "  data u8[4294967296, 4294967296] strides [0, 1]   indices i64[4]   axis 0\n"
            "  try: check how the shape was computed");
  // A size of 0 does not excuse the others.
  EXPECT_EQ(gather_refusal({u8, {0, kMost, 2}, {0, 0, 1}}, {i64, {4}}),
            "gather: tensor too large\n"
            "  the sizes of data multiply to more than 2^63 - 1\n"
            "  data u8[0, 9223372036854775807, 2] strides [0, 0, 1]   indices i64[4]   axis 0\n"
            "  try: check how the shape was computed");
}

TEST(InferTensor, StridesStayInTheAddressSpace) {
  EXPECT_EQ(gather_refusal({f32, {2}, {kMost}}, {i64, {4}}),
            "gather: tensor too large\n"
            "  the strides of data reach further than 2^63 - 1 bytes\n"
            "  data f32[2] strides [9223372036854775807]   indices i64[4]   axis 0\n"
            "  try: check the strides; they are in elements, not in bytes");
  EXPECT_EQ(gather_refusal({f32, {2}}, {u8, {2}, {kLeast}}),
            "gather: tensor too large\n"
            "  the strides of indices reach further than 2^63 - 1 bytes\n"
            "  data f32[2]   indices u8[2] strides [-9223372036854775808]   axis 0\n"
            "  try: check the strides; they are in elements, not in bytes");
  EXPECT_EQ(output_refusal({f32, {2, 5}, {kMost, 1}}),
            "gather: tensor too large\n"
            "  the strides of output reach further than 2^63 - 1 bytes\n"
            "  data f32[3, 5]   indices i64[2]   axis 0   output f32[2, 5] strides "
            "[9223372036854775807, 1]\n"
            "  try: check the strides; they are in elements, not in bytes");
}

TEST(InferTensor, TypesAreKnown) {
  EXPECT_EQ(gather_refusal({DType(Kind::kInt32, 3), {3}}, {i64, {4}}),
            "gather: unknown element type\n"
            "  data has elements of kind 3 and 3 bytes\n"
            "  data opaque3[3]   indices i64[4]   axis 0\n"
            "  try: one of the named types, or opaque elements of 1 to 64 bytes");
  // An index type that claims to be shorter than it is would be read past its end.
  EXPECT_EQ(gather_refusal({f32, {3}}, {DType(Kind::kInt64, 1), {4}}),
            "gather: unknown element type\n"
            "  indices has elements of kind 4 and 1 byte\n"
            "  data f32[3]   indices opaque1[4]   axis 0\n"
            "  try: one of the named types, or opaque elements of 1 to 64 bytes");
  for (const DType type :
       {DType(Kind::kOpaque, 0), DType(Kind::kOpaque, 65), DType(Kind::kOpaque, 256 + 4),
        DType(Kind::kOpaque, -1), DType(static_cast<Kind>(200), 4)}) {
    EXPECT_FALSE(type.is_known());
    EXPECT_EQ(gather_refusal({type, {3}}, {i64, {4}}).find("gather: unknown element type\n"), 0u);
  }
}

TEST(InferRule, ValuesOutsideTheEnumerationsAreRefused) {
  EXPECT_EQ(gather_refusal({f32, {3}}, {i64, {4}},
                           {.rule = {.out_of_range = static_cast<OutOfRange>(6)}}),
            "gather: unknown index rule\n"
            "  negative = 0 and out_of_range = 6, but 0..1 and 0..5 have a meaning\n"
            "  data f32[3]   indices i64[4]   axis 0\n"
            "  try: one of the named rules");
  EXPECT_EQ(
      gather_refusal({f32, {3}}, {i64, {4}}, {.rule = {.negative = static_cast<Negative>(2)}}),
      "gather: unknown index rule\n"
      "  negative = 2 and out_of_range = 0, but 0..1 and 0..5 have a meaning\n"
      "  data f32[3]   indices i64[4]   axis 0\n"
      "  try: one of the named rules");
}

TEST(InferIndices, AreIntegers) {
  EXPECT_EQ(gather_refusal({f32, {3}}, {f32, {4}}),
            "gather: indices are not integers\n"
            "  indices is f32, but i8 to i64 or u8 to u64 are needed\n"
            "  data f32[3]   indices f32[4]   axis 0\n"
            "  try: convert indices to i64");
  for (const DType type : {boolean, f16, bf16, f8e4m3, f8e5m2, f64, c64, c128, i4, u2, opaque(8)}) {
    EXPECT_EQ(gather_refusal({f32, {3}}, {type, {4}}).find("gather: indices are not integers"), 0u);
  }
}

TEST(InferAxis, DataHasOne) {
  EXPECT_EQ(gather_refusal({f32, {}}, {i64, {4}}),
            "gather: data is a scalar\n"
            "  axis = 0, but data has no dimensions\n"
            "  data f32[]   indices i64[4]   axis 0\n"
            "  try: reshape data to [1]");
  EXPECT_EQ(elements_refusal({f32, {}}, {i64, {}}, {.axis = -1}),
            "gather_elements: data is a scalar\n"
            "  axis = -1, but data has no dimensions\n"
            "  data f32[]   indices i64[]   axis -1\n"
            "  try: reshape data to [1]");
}

TEST(InferAxis, IsOneOfTheDimensions) {
  EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {4}}, {.axis = 2}),
            "gather: axis out of range\n"
            "  axis = 2, but data has 2 dimensions (allowed -2..1)\n"
            "  data f32[3, 5]   indices i64[4]   axis 2\n"
            "  try: an axis from -2 to 1");
  EXPECT_EQ(elements_refusal({f32, {3}}, {i64, {4}}, {.axis = -2}),
            "gather_elements: axis out of range\n"
            "  axis = -2, but data has 1 dimension (allowed -1..0)\n"
            "  data f32[3]   indices i64[4]   axis -2\n"
            "  try: an axis from -1 to 0");
  for (const int64_t axis : {kLeast, kLeast + 1, int64_t{-3}, int64_t{2}, kMost}) {
    EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {4}}, {.axis = axis})
                  .find("gather: axis out of range\n  axis = " + std::to_string(axis)),
              0u);
  }
}

TEST(InferBatchDims, LeaveRoomForTheRest) {
  EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {3, 4}}, {.axis = 0, .batch_dims = 1}),
            "gather: batch_dims out of range\n"
            "  batch_dims = 1, but at most 0 fit (they stand before axis, and indices must have "
            "them too)\n"
            "  data f32[3, 5]   indices i64[3, 4]   axis 0   batch_dims 1\n"
            "  try: batch_dims from 0 to 0");
  EXPECT_EQ(gather_refusal({f32, {3, 5, 7}}, {i64, {3}}, {.axis = 2, .batch_dims = 2}),
            "gather: batch_dims out of range\n"
            "  batch_dims = 2, but at most 1 fit (they stand before axis, and indices must have "
            "them too)\n"
            "  data f32[3, 5, 7]   indices i64[3]   axis 2   batch_dims 2\n"
            "  try: batch_dims from 0 to 1");
  EXPECT_EQ(nd_refusal({f32, {3}}, {i64, {3, 1}}, {.batch_dims = 2}),
            "gather_nd: batch_dims out of range\n"
            "  batch_dims = 2, but at most 1 fit (the last dimension of indices holds tuples, and "
            "data must have them too)\n"
            "  data f32[3]   indices i64[3, 1]   batch_dims 2\n"
            "  try: batch_dims from 0 to 1");
  for (const int64_t batch : {kLeast, kLeast + 1, int64_t{-3}, int64_t{2}, int64_t{10}, kMost}) {
    EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {3, 4}}, {.axis = 1, .batch_dims = batch})
                  .find("gather: batch_dims out of range\n  batch_dims = " + std::to_string(batch)),
              0u);
    EXPECT_EQ(nd_refusal({f32, {3, 5}}, {i64, {3, 1}}, {.batch_dims = batch})
                  .find("gather_nd: batch_dims out of range\n"),
              0u);
  }
}

TEST(InferBatchDims, AreEqualInDataAndIndices) {
  EXPECT_EQ(gather_refusal({f32, {3, 5}}, {i64, {4, 2}}, {.axis = 1, .batch_dims = 1}),
            "gather: batch dimensions differ\n"
            "  dimension 0 is a batch dimension, but data has 3 entries there and indices 4\n"
            "  data f32[3, 5]   indices i64[4, 2]   axis 1   batch_dims 1\n"
            "  try: batch dimensions of equal size, or fewer batch_dims");
  // Size 1 does not stretch.
  EXPECT_EQ(nd_refusal({f32, {3, 5}}, {i64, {1, 1}}, {.batch_dims = 1}),
            "gather_nd: batch dimensions differ\n"
            "  dimension 0 is a batch dimension, but data has 3 entries there and indices 1\n"
            "  data f32[3, 5]   indices i64[1, 1]   batch_dims 1\n"
            "  try: batch dimensions of equal size, or fewer batch_dims");
}

TEST(InferOutputRank, IsAtMost32) {
  EXPECT_EQ(gather_refusal({u8, Dims(17, 1)}, {i64, Dims(17, 1)}),
            "gather: too many dimensions\n"
            "  the output would have 33 dimensions, but at most 32 are supported\n"
            "  data u8[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]   indices i64[1, 1, 1, "
            "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]   axis 0\n"
            "  try: merge dimensions that are adjacent in memory");
  EXPECT_EQ(plan_gather({u8, Dims(17, 1)}, {i64, Dims(16, 1)}).output().rank(), 32);
  // One batch dimension stands for two: the same ranks fit.
  EXPECT_EQ(plan_gather({u8, Dims(17, 1)}, {i64, Dims(17, 1)}, {.axis = 1, .batch_dims = 1})
                .output()
                .rank(),
            32);
  EXPECT_EQ(nd_refusal({u8, Dims(17, 1)}, {i64, Dims(18, 1)})
                .find("gather_nd: too many dimensions\n  the output would have 33 dimensions"),
            0u);
  EXPECT_EQ(plan_gather_nd({u8, Dims(17, 1)}, {i64, Dims(17, 1)}).output().rank(), 32);
}

TEST(InferGatherElements, RanksAreEqual) {
  EXPECT_EQ(elements_refusal({f32, {3, 5}}, {i64, {4}}),
            "gather_elements: ranks differ\n"
            "  indices has 1 dimension, but data has 2\n"
            "  data f32[3, 5]   indices i64[4]   axis 0\n"
            "  try: indices of the same rank as data; to take whole slices use gather");
}

TEST(InferGatherElements, IndicesFitOffTheAxis) {
  EXPECT_EQ(elements_refusal({f32, {3, 5}}, {i64, {9, 6}}),
            "gather_elements: shapes do not fit\n"
            "  dimension 1 of indices has 6 entries, but data has 5 there\n"
            "  data f32[3, 5]   indices i64[9, 6]   axis 0\n"
            "  try: indices no larger than data off the axis, or broadcast = true");
  EXPECT_EQ(elements_refusal({f32, {3, 5}}, {i64, {2, 9}}, {.axis = 1, .broadcast = true}),
            "gather_elements: shapes do not fit\n"
            "  dimension 0 of indices has 2 entries, but data has 3 there\n"
            "  data f32[3, 5]   indices i64[2, 9]   axis 1   broadcast 1\n"
            "  try: equal sizes, or size 1 in one of the two, off the axis");
}

TEST(InferGatherNd, IndicesHoldTuples) {
  EXPECT_EQ(nd_refusal({f32, {3, 5}}, {i64, {}}),
            "gather_nd: indices is a scalar\n"
            "  the last dimension of indices holds the index tuples\n"
            "  data f32[3, 5]   indices i64[]\n"
            "  try: reshape indices to [1]");
  EXPECT_EQ(nd_refusal({f32, {3, 5}}, {i64, {4, 3}}),
            "gather_nd: index tuples too long\n"
            "  the last dimension of indices holds tuples of 3, but data has 2 dimensions for "
            "them\n"
            "  data f32[3, 5]   indices i64[4, 3]\n"
            "  try: tuples of at most 2");
  EXPECT_EQ(nd_refusal({f32, {3, 5}}, {i64, {3, 2}}, {.batch_dims = 1}),
            "gather_nd: index tuples too long\n"
            "  the last dimension of indices holds tuples of 2, but data has 1 dimension for "
            "them\n"
            "  data f32[3, 5]   indices i64[3, 2]   batch_dims 1\n"
            "  try: tuples of at most 1");
  EXPECT_EQ(nd_refusal({f32, {3}}, {u8, {kMost}}).find("gather_nd: index tuples too long"), 0u);
}

TEST(InferOutput, IsTheOneComputed) {
  EXPECT_EQ(output_refusal({f64, {2, 5}}),
            "gather: types differ\n"
            "  output is f64, but data is f32\n"
            "  data f32[3, 5]   indices i64[2]   axis 0   output f64[2, 5]\n"
            "  try: an output of type f32; nothing is converted");
  EXPECT_EQ(output_refusal({f32, {5, 2}}),
            "gather: output has the wrong shape\n"
            "  output is [5, 2], but this call makes [2, 5]\n"
            "  data f32[3, 5]   indices i64[2]   axis 0   output f32[5, 2]\n"
            "  try: an output of shape [2, 5]");
  EXPECT_EQ(output_refusal({f32, {10}}).find("gather: output has the wrong shape"), 0u);
  EXPECT_EQ(output_refusal({f32, {2, 5}, {1, 1}}),
            "gather: output overlaps itself\n"
            "  strides [1, 1] place several elements in one spot\n"
            "  data f32[3, 5]   indices i64[2]   axis 0   output f32[2, 5] strides [1, 1]\n"
            "  try: an output whose strides keep its elements apart");
  EXPECT_EQ(output_refusal({f32, {2, 5}, {0, 1}}).find("gather: output overlaps itself"), 0u);
}

TEST(InferOutput, IsNotTooLarge) {
  const int64_t half = int64_t{1} << 32;
  EXPECT_EQ(gather_refusal({u8, {1, half}, {0, 0}}, {u8, {half}, {0}}),
            "gather: output too large\n"
            "  the output would be u8[4294967296, 4294967296]: more than 2^63 - 1 bytes\n"
            "  data u8[1, 4294967296] strides [0, 0]   indices u8[4294967296] strides [0]   axis "
            "0\n"
            "  try: fewer indices per call");
  // The elements can be counted, their bytes cannot.
  const std::string text = gather_refusal({f64, {1, half}, {0, 0}}, {u8, {half / 4}, {0}});
  EXPECT_EQ(text,
            "gather: output too large\n"
            "  the output would be f64[1073741824, 4294967296]: more than 2^63 - 1 bytes\n"
            "  data f64[1, 4294967296] strides [0, 0]   indices u8[1073741824] strides [0]   axis "
            "0\n"
            "  try: fewer indices per call");
}

TEST(InferSizes, Gather) {
  EXPECT_EQ(plan_gather({f32, {3}}, {i64, {}}).output(), TensorSpec(f32, {}));
  EXPECT_EQ(plan_gather({f32, {0, 4}}, {i64, {0}}).output(), TensorSpec(f32, {0, 4}));
  EXPECT_EQ(plan_gather({f32, {3, 5}}, {i64, {2, 4}}, {.axis = -1}).output(),
            TensorSpec(f32, {3, 2, 4}));
  EXPECT_EQ(plan_gather({f32, {3, 5, 7}}, {i64, {3, 9}}, {.axis = 2, .batch_dims = -1}).output(),
            TensorSpec(f32, {3, 5, 9}));
}

TEST(InferSizes, GatherElements) {
  EXPECT_EQ(plan_gather_elements({f32, {3, 5}}, {i64, {9, 2}}).output(), TensorSpec(f32, {9, 2}));
  EXPECT_EQ(plan_gather_elements({f32, {3, 1}}, {i64, {9, 4}}, {.broadcast = true}).output(),
            TensorSpec(f32, {9, 4}));
  EXPECT_EQ(plan_gather_elements({f32, {3, 4}}, {i64, {9, 1}}, {.broadcast = true}).output(),
            TensorSpec(f32, {9, 4}));
  EXPECT_EQ(plan_gather_elements({f32, {3, 0}}, {i64, {9, 1}}, {.broadcast = true}).output(),
            TensorSpec(f32, {9, 0}));
}

TEST(InferSizes, GatherNd) {
  EXPECT_EQ(plan_gather_nd({f32, {}}, {i64, {4, 0}}).output(), TensorSpec(f32, {4}));
  EXPECT_EQ(plan_gather_nd({f32, {3, 5}}, {i64, {2}}).output(), TensorSpec(f32, {}));
  EXPECT_EQ(plan_gather_nd({f32, {3, 5, 7}}, {i64, {3, 4, 1}}, {.batch_dims = 1}).output(),
            TensorSpec(f32, {3, 4, 7}));
}

TEST(InferRequest, IsKeptWithNothingNegative) {
  const Plan plan = plan_gather({f32, {3, 5}}, {i64, {3, 4}}, {.axis = -1, .batch_dims = -1});
  EXPECT_EQ(plan.request().axis, 1);
  EXPECT_EQ(plan.request().batch_dims, 1);
  EXPECT_EQ(plan.output().strides, (Dims{4, 1}));
}

}  // namespace
}  // namespace sheaf
