// SPDX-License-Identifier: MIT
//
// What the host side of cuda.shared (scatter_shared.cu) and its kernels (reduce_shared.cuh, one
// file per reduction) have in common.
#pragma once

#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter.h"

namespace sheaf::cuda {

inline constexpr int kSharedProducers = 256;  // threads
inline constexpr int kSharedLoads = 8;        // updates per producer and stage
inline constexpr int kSharedStage = kSharedProducers * kSharedLoads;
inline constexpr int kSharedSlots = 3;
inline constexpr int kMostColumns = 8;  // one consumer warp each
// A little more than a block ever has, so that registers suffice for two blocks of one column.
inline constexpr int kMostSharedThreads = kSharedProducers + 32 * kMostColumns + 64;
inline constexpr int kSharedStatic = 1024;  // of a block's shared memory: the ring's barriers

// One dimension of the nest. Strides: data and output in bytes, index in elements.
struct SharedLoop {
  int64_t extent, data, index, output;
};

struct SharedArgs {
  AnyNest batch;  // the loops outside; the rule and the one coordinate
  ScatterCall call;
  SharedLoop updates;  // of one column, in order; data is 0
  SharedLoop column;   // neighbouring columns
  int64_t cells, cell_stride;
  int64_t groups, groups_of_point;  // of columns: in all; per point of batch
  int columns, column_bits;         // per group: a power of 2
  uint32_t stages;                  // per group
  Indices indices;
};

struct SharedCall {
  SharedArgs args;
  DType type;
  unsigned blocks;
  int threads;
  size_t shared_bytes;
};

void shared_add(const SharedCall& call);
void shared_sub(const SharedCall& call);
void shared_mul(const SharedCall& call);
void shared_min(const SharedCall& call);
void shared_max(const SharedCall& call);

}  // namespace sheaf::cuda
