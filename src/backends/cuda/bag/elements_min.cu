// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/elements.cuh"

namespace sheaf::cuda {

void pool_elements_min(const BagCall& call) { pool_elements<Reduction::kMin>(call); }

}  // namespace sheaf::cuda
