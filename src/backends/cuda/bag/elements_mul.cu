// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/elements.cuh"

namespace sheaf::cuda {

void pool_elements_mul(const BagCall& call) { pool_elements<Reduction::kMul>(call); }

}  // namespace sheaf::cuda
