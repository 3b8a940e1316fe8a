// SPDX-License-Identifier: MIT
#include "io/own_indices.h"

#include "plan/request.h"
#include "sheaf/gather.h"

namespace sheaf::io {
namespace {

// What repeats (stride 0) is there once.
TensorSpec distinct_elements(TensorSpec spec) {
  for (int d = 0; d < spec.rank(); ++d) {
    spec.sizes[d] = spec.strides[d] == 0 && spec.sizes[d] > 1 ? 1 : spec.sizes[d];
  }
  return spec;
}

// `spec` on packed distinct elements: the same sizes, and strides of 0 where it has them.
TensorSpec packed_like(const TensorSpec& spec) {
  TensorSpec packed(spec.dtype, distinct_elements(spec).sizes);
  for (int d = 0; d < spec.rank(); ++d) {
    packed.strides[d] = packed.sizes[d] == spec.sizes[d] ? packed.strides[d] : 0;
    packed.sizes[d] = spec.sizes[d];
  }
  return packed;
}

}  // namespace

Plan copy_plan(const TensorSpec& from) {
  return plan_gather_nd(from, TensorSpec(i64, {0}), TensorSpec(from.dtype, from.sizes));
}

OwnIndices::OwnIndices(const Plan& plan, const void* indices)
    : copy_(TensorSpec(plan.indices().dtype, distinct_elements(plan.indices()).sizes)) {
  const TensorSpec given = distinct_elements(plan.indices());
  if (element_count(given.sizes) > 0) {
    copy_plan(given).run(indices, nullptr, copy_.tensor().data);
  }
  const TensorSpec packed = packed_like(plan.indices());
  if (packed == plan.indices()) {
    plan_.emplace(plan);
    return;
  }
  Request request = plan.request();
  request.indices = packed;
  plan_.emplace(make_plan(request));
}

}  // namespace sheaf::io
