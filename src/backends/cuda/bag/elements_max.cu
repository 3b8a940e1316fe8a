// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/elements.cuh"

namespace sheaf::cuda {

void pool_elements_max(const BagCall& call) { pool_elements<Reduction::kMax>(call); }

}  // namespace sheaf::cuda
