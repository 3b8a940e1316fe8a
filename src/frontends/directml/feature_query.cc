// SPDX-License-Identifier: MIT
#include "frontends/directml/feature_query.h"

#include <algorithm>

#include "frontends/directml/feature_levels.h"
#include "frontends/directml/result.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

template <class Query, class Support>
void check_structs(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  const char* null = q.query == nullptr     ? ", but the query is null"
                     : q.support == nullptr ? ", but the support data is null"
                                            : "";
  if (*null != 0 || q.query_size != sizeof(Query) || q.support_size != sizeof(Support)) {
    refuse({.who = "CheckFeatureSupport",
            .what = "structs do not fit",
            .detail = cat("feature ", int32_t{q.feature}, " has a query of ", sizeof(Query),
                          " bytes and support data of ", sizeof(Support), "; given were ",
                          q.query_size, " and ", q.support_size, null),
            .given = cat("device of ", level_name(level)),
            .next = "the two structs of the feature, and their sizeof"});
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
    refuse({.who = "CheckFeatureSupport",
            .what = "no feature levels",
            .detail = cat("RequestedFeatureLevelCount = ", query.RequestedFeatureLevelCount,
                          query.RequestedFeatureLevels == nullptr ? ", and the list is null" : ""),
            .given = cat("device of ", level_name(level)),
            .next = "a list of at least one level"});
  }
  DML_FEATURE_LEVEL best{};
  for (UINT i = 0; i < query.RequestedFeatureLevelCount; ++i) {
    const DML_FEATURE_LEVEL asked = query.RequestedFeatureLevels[i];
    if (is_feature_level(asked) && asked <= level) {  // a level of the future is not an error
      best = std::max(best, asked);
    }
  }
  if (!is_feature_level(best)) {
    refuse({.who = "CheckFeatureSupport",
            .what = "no feature level supported",
            .detail = "this device has none of the requested levels",
            .given = cat("device of ", level_name(level)),
            .next = cat("add ", level_name(level), " to the list"),
            .code = ErrorCode::kUnsupported});
  }
  static_cast<Support*>(q.support)->MaxSupportedFeatureLevel = best;
}

}  // namespace

void answer(DML_FEATURE_LEVEL level, const FeatureQuery& q) {
  switch (q.feature) {
    case DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: return answer_type_support(level, q);
    case DML_FEATURE_FEATURE_LEVELS: return answer_feature_levels(level, q);
  }
  refuse({.who = "CheckFeatureSupport",
          .what = "unknown feature",
          .detail = cat("feature = ", int32_t{q.feature}),
          .given = cat("device of ", level_name(level)),
          .next = "DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT (0) or DML_FEATURE_FEATURE_LEVELS (1)",
          .code = ErrorCode::kUnsupported});
}

}  // namespace sheaf::dml::detail
