// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {

void pool_rows_min(const BagCall& call) { pool_rows<Reduction::kMin>(call); }

}  // namespace sheaf::cuda
