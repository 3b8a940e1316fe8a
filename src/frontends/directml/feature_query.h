// SPDX-License-Identifier: MIT
//
// CheckFeatureSupport: what a device of a feature level answers.
#pragma once

#include "sheaf/directml_types.h"

namespace sheaf::dml::detail {

// The query and answer structs, as they came.
struct FeatureQuery {
  DML_FEATURE feature;
  UINT query_size;
  const void* query;
  UINT support_size;
  void* support;
};

// Writes the answer. Refuses structs that are not those of the feature.
void answer(DML_FEATURE_LEVEL level, const FeatureQuery& query);

}  // namespace sheaf::dml::detail
