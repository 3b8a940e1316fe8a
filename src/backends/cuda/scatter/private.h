// SPDX-License-Identifier: MIT
//
// What the host side of cuda.private (private.cu) and its kernels (reduce_private.cuh, one
// file per reduction) have in common.
#pragma once

#include "backends/cuda/scatter/shared.h"

namespace sheaf::cuda {

struct PrivateArgs {
  AnyNest batch;  // its points are columns; the rule and the one coordinate
  ScatterCall call;
  SharedLoop updates;  // of one column, in order; data is 0
  int64_t cell_stride;
  int cells;        // of a column
  int index_bytes;  // 4 or 8
  int stage_bytes;  // of shared memory, for a part of 32 columns; 0: threads read for themselves
};

struct PrivateCall {
  PrivateArgs args;
  DType type;
  unsigned blocks;
  size_t shared_bytes;
};

template <Reduction kReduction>
void launch_private(const PrivateCall& call);

}  // namespace sheaf::cuda
