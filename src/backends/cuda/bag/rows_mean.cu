// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {

void pool_rows_mean(const BagCall& call) { pool_rows<Reduction::kAdd, true>(call); }

}  // namespace sheaf::cuda
