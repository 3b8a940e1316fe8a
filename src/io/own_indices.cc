// SPDX-License-Identifier: MIT
#include "io/own_indices.h"

#include "plan/request.h"
#include "sheaf/gather.h"

namespace sheaf::io {

TensorSpec distinct_elements(TensorSpec spec) {
  for (int d = 0; d < spec.rank(); ++d) {
    spec.sizes[d] = spec.strides[d] == 0 && spec.sizes[d] > 1 ? 1 : spec.sizes[d];
  }
  return spec;
}

// The same sizes, and strides of 0 where it has them.
TensorSpec packed_like(const TensorSpec& spec) {
  TensorSpec packed(spec.dtype, distinct_elements(spec).sizes);
  for (int d = 0; d < spec.rank(); ++d) {
    packed.strides[d] = packed.sizes[d] == spec.sizes[d] ? packed.strides[d] : 0;
    packed.sizes[d] = spec.sizes[d];
  }
  return packed;
}

Plan with_indices(const Plan& plan, const TensorSpec& indices) {
  if (indices == plan.indices()) {
    return plan;
  }
  Request request = plan.request();
  request.indices = indices;
  return make_plan(request);
}

Plan copy_plan(const TensorSpec& from) {
  return plan_gather_nd(from, TensorSpec(i64, {0}), TensorSpec(from.dtype, from.sizes));
}

OwnIndices::OwnIndices(const Plan& plan, const void* indices)
    : copy_(TensorSpec(plan.indices().dtype, distinct_elements(plan.indices()).sizes)) {
  const TensorSpec given = distinct_elements(plan.indices());
  if (element_count(given.sizes) > 0) {
    copy_plan(given).run(indices, nullptr, copy_.tensor().data);
  }
  plan_.emplace(with_indices(plan, packed_like(plan.indices())));
}

}  // namespace sheaf::io
