// SPDX-License-Identifier: MIT
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {

void pool_rows_add(const BagCall& call) { pool_rows<Reduction::kAdd>(call); }

}  // namespace sheaf::cuda
