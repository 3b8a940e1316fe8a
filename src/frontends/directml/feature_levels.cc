// SPDX-License-Identifier: MIT
#include "frontends/directml/feature_levels.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "frontends/directml/refusal.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

struct TypeInfo {
  DML_TENSOR_DATA_TYPE type;
  const char* name;
  int bits;
  DType dtype;  // not read for 4-bit types: no operator takes them
};

constexpr TypeInfo kTypes[] = {
    {DML_TENSOR_DATA_TYPE_FLOAT32, "FLOAT32", 32, f32},
    {DML_TENSOR_DATA_TYPE_FLOAT16, "FLOAT16", 16, f16},
    {DML_TENSOR_DATA_TYPE_UINT32, "UINT32", 32, u32},
    {DML_TENSOR_DATA_TYPE_UINT16, "UINT16", 16, u16},
    {DML_TENSOR_DATA_TYPE_UINT8, "UINT8", 8, u8},
    {DML_TENSOR_DATA_TYPE_INT32, "INT32", 32, i32},
    {DML_TENSOR_DATA_TYPE_INT16, "INT16", 16, i16},
    {DML_TENSOR_DATA_TYPE_INT8, "INT8", 8, i8},
    {DML_TENSOR_DATA_TYPE_FLOAT64, "FLOAT64", 64, f64},
    {DML_TENSOR_DATA_TYPE_UINT64, "UINT64", 64, u64},
    {DML_TENSOR_DATA_TYPE_INT64, "INT64", 64, i64},
    {DML_TENSOR_DATA_TYPE_UINT4, "UINT4", 4, u8},
    {DML_TENSOR_DATA_TYPE_INT4, "INT4", 4, i8},
};

const TypeInfo* find_type(DML_TENSOR_DATA_TYPE type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeInfo& info) { return info.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}

constexpr TypeSet kFloats{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16};
constexpr TypeSet kUpTo32Bits =
    kFloats | TypeSet{DML_TENSOR_DATA_TYPE_INT32,  DML_TENSOR_DATA_TYPE_INT16,
                      DML_TENSOR_DATA_TYPE_INT8,   DML_TENSOR_DATA_TYPE_UINT32,
                      DML_TENSOR_DATA_TYPE_UINT16, DML_TENSOR_DATA_TYPE_UINT8};
constexpr TypeSet kUpTo64Bits =
    kUpTo32Bits |
    TypeSet{DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT64};
constexpr TypeSet kUint32{DML_TENSOR_DATA_TYPE_UINT32};
constexpr TypeSet kIndex{DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_INT32,
                         DML_TENSOR_DATA_TYPE_UINT64, DML_TENSOR_DATA_TYPE_UINT32};

// One table for all: an operator that came later has the rows from its own level on. That is all
// that 2_0 changes; the levels after 4_1 change nothing.
constexpr TensorSupport kSupport[] = {
    {DML_FEATURE_LEVEL_4_1, 1, DML_TENSOR_DIMENSION_COUNT_MAX1, kUpTo64Bits, kIndex},
    {DML_FEATURE_LEVEL_3_0, 1, DML_TENSOR_DIMENSION_COUNT_MAX1, kUpTo32Bits, kIndex},
    {DML_FEATURE_LEVEL_2_1, 4, 4, kUpTo32Bits, kUint32},
    {DML_FEATURE_LEVEL_2_0, 4, 4, kFloats, kUint32},
    {DML_FEATURE_LEVEL_1_0, 4, 4, kFloats, kUint32},
};
constexpr std::span kRows(kSupport);

constexpr OperatorInfo kOperators[] = {
    {DML_OPERATOR_GATHER, Op::kGather, "DML_OPERATOR_GATHER", kRows.first<5>()},
    {DML_OPERATOR_SCATTER_ELEMENTS, Op::kScatterElements, "DML_OPERATOR_SCATTER_ELEMENTS",
     kRows.first<4>()},
    {DML_OPERATOR_GATHER_ELEMENTS, Op::kGatherElements, "DML_OPERATOR_GATHER_ELEMENTS",
     kRows.first<3>()},
    {DML_OPERATOR_GATHER_ND, Op::kGatherNd, "DML_OPERATOR_GATHER_ND", kRows.first<3>()},
    {DML_OPERATOR_SCATTER_ND, Op::kScatterNd, "DML_OPERATOR_SCATTER_ND", kRows.first<3>()},
    {DML_OPERATOR_GATHER_ND1, Op::kGatherNd, "DML_OPERATOR_GATHER_ND1", kRows.first<2>()},
};

constexpr DML_FEATURE_LEVEL kLevels[] = {
    DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1, DML_FEATURE_LEVEL_3_0,
    DML_FEATURE_LEVEL_3_1, DML_FEATURE_LEVEL_4_0, DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0,
    DML_FEATURE_LEVEL_5_1, DML_FEATURE_LEVEL_5_2, DML_FEATURE_LEVEL_6_0, DML_FEATURE_LEVEL_6_1,
    DML_FEATURE_LEVEL_6_2, DML_FEATURE_LEVEL_6_3, DML_FEATURE_LEVEL_6_4};

}  // namespace

bool is_feature_level(DML_FEATURE_LEVEL level) {
  return std::find(std::begin(kLevels), std::end(kLevels), level) != std::end(kLevels);
}

std::string level_name(DML_FEATURE_LEVEL level) {
  return cat("DML_FEATURE_LEVEL_", level >> 12, "_", level >> 8 & 0xF);
}

const OperatorInfo* find_operator(DML_OPERATOR_TYPE type) {
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const OperatorInfo& info) { return info.type == type; });
  return found == std::end(kOperators) ? nullptr : found;
}

const TensorSupport* support_at(const OperatorInfo& info, DML_FEATURE_LEVEL level) {
  for (const TensorSupport& support : info.support) {
    if (support.since <= level) {
      return &support;
    }
  }
  return nullptr;
}

bool is_type_supported(DML_TENSOR_DATA_TYPE type, DML_FEATURE_LEVEL level) {
  return std::any_of(std::begin(kOperators), std::end(kOperators), [&](const OperatorInfo& info) {
    const TensorSupport* support = support_at(info, level);
    return support != nullptr && (support->data | support->indices).contains(type);
  });
}

std::string type_name(DML_TENSOR_DATA_TYPE type) {
  const TypeInfo* info = find_type(type);
  return info == nullptr ? cat("DataType ", int32_t{type}) : info->name;
}

std::string names_of(const TypeSet& types) {
  std::string names;
  for (const TypeInfo& info : kTypes) {
    if (types.contains(info.type)) {
      names += cat(names.empty() ? "" : ", ", info.name);
    }
  }
  return names;
}

int bits_of(DML_TENSOR_DATA_TYPE type) {
  const TypeInfo* info = find_type(type);
  return info == nullptr ? 0 : info->bits;
}

DType element_type(DML_TENSOR_DATA_TYPE type) { return find_type(type)->dtype; }

namespace {

[[noreturn]] void refuse_query(DML_FEATURE_LEVEL level, ErrorCode code, const char* what,
                               const std::string& detail, const std::string& next) {
  throw Error(Refusal{.code = code,
                      .who = "CheckFeatureSupport",
                      .what = what,
                      .detail = detail,
                      .given = cat("device of ", level_name(level)),
                      .next = next});
}

template <class Query, class Support>
void check_structs(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  const char* null = q.query == nullptr     ? ", but the query is null"
                     : q.support == nullptr ? ", but the support data is null"
                                            : "";
  if (*null != 0 || q.query_size != sizeof(Query) || q.support_size != sizeof(Support)) {
    refuse_query(level, ErrorCode::kInvalidArgument, "structs do not fit",
                 cat("feature ", int32_t{q.feature}, " has a query of ", sizeof(Query),
                     " bytes and support data of ", sizeof(Support), "; given were ", q.query_size,
                     " and ", q.support_size, null),
                 "the two structs of the feature, and their sizeof");
  }
}

void answer_type_support(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  using Query = DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT;
  using Support = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT;
  check_structs<Query, Support>(level, q);
  const DML_TENSOR_DATA_TYPE type = static_cast<const Query*>(q.query)->DataType;
  static_cast<Support*>(q.support)->IsSupported = is_type_supported(type, level) ? 1 : 0;
}

void answer_feature_levels(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  using Query = DML_FEATURE_QUERY_FEATURE_LEVELS;
  using Support = DML_FEATURE_DATA_FEATURE_LEVELS;
  check_structs<Query, Support>(level, q);
  const auto& query = *static_cast<const Query*>(q.query);
  if (query.RequestedFeatureLevelCount == 0 || query.RequestedFeatureLevels == nullptr) {
    refuse_query(level, ErrorCode::kInvalidArgument, "no feature levels",
                 cat("RequestedFeatureLevelCount = ", query.RequestedFeatureLevelCount,
                     query.RequestedFeatureLevels == nullptr ? ", and the list is null" : ""),
                 "a list of at least one level");
  }
  DML_FEATURE_LEVEL best{};
  for (UINT i = 0; i < query.RequestedFeatureLevelCount; ++i) {
    const DML_FEATURE_LEVEL asked = query.RequestedFeatureLevels[i];
    if (is_feature_level(asked) && asked <= level) {  // a level of the future is not an error
      best = std::max(best, asked);
    }
  }
  if (!is_feature_level(best)) {
    refuse_query(level, ErrorCode::kUnsupported, "no feature level supported",
                 "this device has none of the requested levels",
                 cat("add ", level_name(level), " to the list"));
  }
  static_cast<Support*>(q.support)->MaxSupportedFeatureLevel = best;
}

std::string hex(int32_t value) {
  char digits[8];
  const auto written = std::to_chars(digits, std::end(digits), static_cast<uint32_t>(value), 16);
  return cat("0x", std::string_view(digits, written.ptr));
}

}  // namespace

void check_device_arguments(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL level) {
  const std::string given = cat("flags ", int32_t{flags}, "   feature level ", hex(level));
  if ((flags & ~DML_CREATE_DEVICE_FLAG_DEBUG) != 0) {
    const std::string detail = cat("flags = ", int32_t{flags});
    throw Error(
        Refusal{.who = "DMLCreateDevice",
                .what = "unknown flags",
                .detail = detail,
                .given = given,
                .next = "DML_CREATE_DEVICE_FLAG_NONE (0) or DML_CREATE_DEVICE_FLAG_DEBUG (1)"});
  }
  if (!is_feature_level(level)) {
    throw Error(Refusal{
        .code = ErrorCode::kUnsupported,
        .who = "DMLCreateDevice",
        .what = "feature level not supported",
        .detail = cat(hex(level), " is not the value of a level up to ", level_name(kHighestLevel)),
        .given = given,
        .next = level_name(kHighestLevel)});
  }
}

void answer(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  switch (q.feature) {
    case DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: return answer_type_support(level, q);
    case DML_FEATURE_FEATURE_LEVELS: return answer_feature_levels(level, q);
  }
  refuse_query(level, ErrorCode::kUnsupported, "unknown feature",
               cat("feature = ", int32_t{q.feature}),
               "DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT (0) or DML_FEATURE_FEATURE_LEVELS (1)");
}

}  // namespace sheaf::dml::detail
