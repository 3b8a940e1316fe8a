// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {

void pool_rows_max(const BagCall& call) { pool_rows<Reduction::kMax>(call); }

}  // namespace sheaf::cuda
