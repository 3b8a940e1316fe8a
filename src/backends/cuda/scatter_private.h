// SPDX-License-Identifier: MIT
//
// What the host side of cuda.private (scatter_private.cu) and its kernels (reduce_private.cuh, one
// file per reduction) have in common.
#pragma once

#include "backends/cuda/scatter_shared.h"

namespace sheaf::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kPart = 32;   // updates of a line that are brought to shared memory at once
inline constexpr int kStages = 2;  // parts that are there
// What lines are copied by. In shared memory they lie as much further apart than they are long, so
// that threads do not meet in a bank.
inline constexpr int kWordBytes = 16;

struct PrivateArgs {
  AnyNest batch;  // its points are columns; the rule and the one coordinate
  ScatterCall call;
  SharedLoop updates;  // of one column, in order; data is 0
  int64_t cell_stride;
  int cells;        // of a column
  int index_bytes;  // 4 or 8
  int stage_bytes;  // of shared memory, for a part of 32 columns; 0: updates do not lie in lines
};

struct PrivateCall {
  PrivateArgs args;
  DType type;
  unsigned blocks;
  size_t shared_bytes;
};

void private_add(const PrivateCall& call);
void private_sub(const PrivateCall& call);
void private_mul(const PrivateCall& call);
void private_min(const PrivateCall& call);
void private_max(const PrivateCall& call);

}  // namespace sheaf::cuda
