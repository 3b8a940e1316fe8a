// SPDX-License-Identifier: MIT
#include "neighbour_levels.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace sheaf::dml_com {
namespace {

using dml::detail::OperatorInfo;
using dml::detail::TensorSupport;
using dml::detail::TypeSet;
using namespace dml;  // NOLINT(google-build-using-namespace): the names of levels and types

constexpr TypeSet kNone{};
constexpr TypeSet kFloats{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16};
constexpr TypeSet kNoBytes =
    kFloats | TypeSet{DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_DATA_TYPE_INT16,
                      DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_DATA_TYPE_UINT16};
constexpr TypeSet kBytes{DML_TENSOR_DATA_TYPE_INT8, DML_TENSOR_DATA_TYPE_UINT8};
constexpr TypeSet kUpTo32Bits = kNoBytes | kBytes;
constexpr TypeSet kNoFloat64 =
    kUpTo32Bits | TypeSet{DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT64};
constexpr TypeSet kUpTo64Bits = kNoFloat64 | TypeSet{DML_TENSOR_DATA_TYPE_FLOAT64};
constexpr TypeSet kCastFirst =
    kFloats | kBytes | TypeSet{DML_TENSOR_DATA_TYPE_INT16, DML_TENSOR_DATA_TYPE_UINT16};
constexpr TypeSet kUint32{DML_TENSOR_DATA_TYPE_UINT32};
constexpr TypeSet kUnsigned{DML_TENSOR_DATA_TYPE_UINT64, DML_TENSOR_DATA_TYPE_UINT32};
constexpr TypeSet kIndex =
    kUnsigned | TypeSet{DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_INT32};

constexpr TensorSupport kElementWiseIdentity[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 5, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 5, kFloats, kNone},
};
constexpr TensorSupport kCast[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_1, 1, 8, kNoFloat64, kNone},
    {DML_FEATURE_LEVEL_3_0, 4, 4, kNoFloat64, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 4, kCastFirst, kNone},
};
constexpr TensorSupport kFillValueConstant[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_4_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kNone},
};
constexpr TensorSupport kFillValueSequence[] = {
    {DML_FEATURE_LEVEL_5_0, 1, 8, kNoFloat64, kNone},
    {DML_FEATURE_LEVEL_4_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kNone},
};
constexpr TensorSupport kTile[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kNoFloat64, kNone},
    {DML_FEATURE_LEVEL_3_1, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 4, kFloats, kNone},
};
constexpr TensorSupport kJoin[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 4, 5, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 4, kNoBytes, kNone},
};
constexpr TensorSupport kSplit[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 4, kNoBytes, kNone},
};
constexpr TensorSupport kSlice[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 5, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 5, kNoBytes, kNone},
};
constexpr TensorSupport kSlice1[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 5, kUpTo32Bits, kNone},
};
constexpr TensorSupport kSliceGrad[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_1, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_3_0, 4, 5, kUpTo32Bits, kNone},
};
constexpr TensorSupport kPadding[] = {
    {DML_FEATURE_LEVEL_5_0, 1, 8, kUpTo64Bits, kNone},
    {DML_FEATURE_LEVEL_3_1, 1, 8, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_2_1, 4, 5, kUpTo32Bits, kNone},
    {DML_FEATURE_LEVEL_1_0, 4, 5, kFloats, kNone},
};
constexpr TensorSupport kPadding1[] = {
    {DML_FEATURE_LEVEL_5_0, 1, 8, kUpTo64Bits, kNone},
};
constexpr TensorSupport kReverseSubsequences[] = {
    {DML_FEATURE_LEVEL_5_0, 1, 8, kUpTo64Bits, kUnsigned},
    {DML_FEATURE_LEVEL_4_0, 1, 8, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_3_0, 4, 5, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kUint32},
};
constexpr TensorSupport kOneHot[] = {
    {DML_FEATURE_LEVEL_4_1, 1, 8, kUpTo64Bits, kIndex},
    {DML_FEATURE_LEVEL_3_0, 1, 8, kUpTo32Bits, kIndex},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_2_0, 4, 4, kFloats, kUint32},
};
constexpr TensorSupport kNonzeroCoordinates[] = {
    {DML_FEATURE_LEVEL_4_0, 1, 8, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_3_0, 4, 5, kUpTo32Bits, kUint32},
};
constexpr TensorSupport kTopK[] = {
    {DML_FEATURE_LEVEL_5_0, 1, 8, kNoFloat64, kUnsigned},
    {DML_FEATURE_LEVEL_3_1, 1, 8, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_2_0, 4, 4, kFloats, kUint32},
};

// `op` is not read for these.
constexpr OperatorInfo kNeighbours[] = {
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_ELEMENT_WISE_IDENTITY), Op::kGather,
     "DML_OPERATOR_ELEMENT_WISE_IDENTITY", kElementWiseIdentity},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_CAST), Op::kGather, "DML_OPERATOR_CAST", kCast},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_FILL_VALUE_CONSTANT), Op::kGather,
     "DML_OPERATOR_FILL_VALUE_CONSTANT", kFillValueConstant},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_FILL_VALUE_SEQUENCE), Op::kGather,
     "DML_OPERATOR_FILL_VALUE_SEQUENCE", kFillValueSequence},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_TILE), Op::kGather, "DML_OPERATOR_TILE", kTile},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_JOIN), Op::kGather, "DML_OPERATOR_JOIN", kJoin},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_SPLIT), Op::kGather, "DML_OPERATOR_SPLIT", kSplit},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_SLICE), Op::kGather, "DML_OPERATOR_SLICE", kSlice},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_SLICE1), Op::kGather, "DML_OPERATOR_SLICE1", kSlice1},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_SLICE_GRAD), Op::kGather, "DML_OPERATOR_SLICE_GRAD",
     kSliceGrad},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_PADDING), Op::kGather, "DML_OPERATOR_PADDING", kPadding},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_PADDING1), Op::kGather, "DML_OPERATOR_PADDING1",
     kPadding1},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_REVERSE_SUBSEQUENCES), Op::kGather,
     "DML_OPERATOR_REVERSE_SUBSEQUENCES", kReverseSubsequences},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_ONE_HOT), Op::kGather, "DML_OPERATOR_ONE_HOT", kOneHot},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_NONZERO_COORDINATES), Op::kGather,
     "DML_OPERATOR_NONZERO_COORDINATES", kNonzeroCoordinates},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_TOP_K), Op::kGather, "DML_OPERATOR_TOP_K", kTopK},
    {dml::DML_OPERATOR_TYPE(DML_OPERATOR_TOP_K1), Op::kGather, "DML_OPERATOR_TOP_K1",
     std::span(kTopK).first(3)},
};

}  // namespace

const OperatorInfo* find_neighbour(::DML_OPERATOR_TYPE type) {
  const auto* found =
      std::find_if(std::begin(kNeighbours), std::end(kNeighbours), [&](const OperatorInfo& info) {
        return static_cast<int>(info.type) == static_cast<int>(type);
      });
  return found == std::end(kNeighbours) ? nullptr : found;
}

}  // namespace sheaf::dml_com
