// SPDX-License-Identifier: MIT
//
// The readers of single elements, for one reduction.
#pragma once

#include "backends/cuda/bag/launch.cuh"

namespace sheaf::cuda {

void pool_elements_add(const BagCall& call);
void pool_elements_max(const BagCall& call);
void pool_elements_min(const BagCall& call);
void pool_elements_mul(const BagCall& call);

template <Reduction kReduction>
void pool_elements(const BagCall& call) {
  constexpr bool kSelects = kReduction == Reduction::kMin || kReduction == Reduction::kMax;
  with_element_type(call.nest.computed, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!(kSelects && is_complex_v<T>)) {  // validation lets none pass
      launch_pool<AnyReader<T>, kReduction, kReduction == Reduction::kAdd,
                  std::is_floating_point_v<T>>(call, 1);
    }
  });
}

}  // namespace sheaf::cuda
