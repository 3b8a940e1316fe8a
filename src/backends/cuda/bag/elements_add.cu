// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/elements.cuh"

namespace sheaf::cuda {

void pool_elements_add(const BagCall& call) { pool_elements<Reduction::kAdd>(call); }

}  // namespace sheaf::cuda
