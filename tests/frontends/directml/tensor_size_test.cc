// SPDX-License-Identifier: MIT
#include <cstdint>

#include "frontends/directml/dml.h"

using namespace dml_test;

namespace {

UINT64 size_of(DML_TENSOR_DATA_TYPE type, const Uints& sizes, const Uints& strides = {}) {
  return DMLCalcBufferTensorSize(type, static_cast<UINT>(sizes.size()), sizes.data(),
                                 strides.empty() ? nullptr : strides.data());
}

}  // namespace

TEST(DirectmlTensorSize, ThereIsNoneForAnUnknownType) {
  for (const int type : {-1, 0, 14, 15, 99, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(size_of(static_cast<DML_TENSOR_DATA_TYPE>(type), {3, 2}), 0u) << type;
  }
}

TEST(DirectmlTensorSize, ThereIsNoneForAnEmptyTensor) {
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 0, 2}), 0u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 0, 2}, {1, 1, 1}), 0u);
}

TEST(DirectmlTensorSize, ThereIsNoneForMoreThanEightDimensions) {
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, Uints(9, 1)), 0u);
  const UINT one = 1;
  EXPECT_EQ(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, kHuge, &one, nullptr), 0u);
}

TEST(DirectmlTensorSize, NullSizesAreAllRightForAScalarOnly) {
  EXPECT_EQ(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 1, nullptr, nullptr), 0u);
  EXPECT_EQ(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT64, 0, nullptr, nullptr), 8u);
}

TEST(DirectmlTensorSize, NothingWraps) {
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, Uints(8, kHuge)), 0u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, Uints(8, kHuge), Uints(8, kHuge)), 0u);
  // 2^63 elements: one more than fits.
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, {1u << 31, 1u << 31, 2}), 0u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_INT4, {1u << 31, 1u << 31, 2}), 0u);
  // 2^62 elements fit, but not in 8 bytes each.
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT64, {1u << 31, 1u << 31}), 0u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, {1u << 31, 1u << 31}), UINT64{1} << 62);
}

TEST(DirectmlTensorSize, GoesBeyond32Bits) {
  // The element numbers of these do not fit in a 32-bit UINT.
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {1u << 17, 1u << 16}), UINT64{1} << 35);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, {3, 2}, {kHuge, 1}), 2 * UINT64{kHuge} + 2);
}

TEST(DirectmlTensorSize, RoundsUpToFourBytes) {
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_UINT8, {1}), 4u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_INT8, {5}), 8u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT16, {3}), 8u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_INT16, {3, 3}), 20u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}), 24u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_INT64, {3}), 24u);
}

TEST(DirectmlTensorSize, FourBitTypesShareBytes) {
  for (const DML_TENSOR_DATA_TYPE type : {DML_TENSOR_DATA_TYPE_UINT4, DML_TENSOR_DATA_TYPE_INT4}) {
    EXPECT_EQ(size_of(type, {1}), 4u);
    EXPECT_EQ(size_of(type, {8}), 4u);
    EXPECT_EQ(size_of(type, {9}), 8u);
    EXPECT_EQ(size_of(type, {3, 3}, {8, 1}), 12u);  // the last element is the 19th
  }
}

TEST(DirectmlTensorSize, StridesReachToTheLastElement) {
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}, {4, 1}), 40u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}, {1, 3}), 24u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}, {0, 1}), 8u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}, {0, 0}), 4u);
  EXPECT_EQ(size_of(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 2}, {kHuge, 1}), 8u);
}
