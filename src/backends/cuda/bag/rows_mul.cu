// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {

void pool_rows_mul(const BagCall& call) { pool_rows<Reduction::kMul>(call); }

}  // namespace sheaf::cuda
