// SPDX-License-Identifier: MIT
//
// What the host side of cuda.shared (shared.cu) and its kernels (reduce_shared.cuh, one
// file per reduction) have in common.
#pragma once

#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

inline constexpr int64_t kMostSharedColumns = int64_t{1} << tuning::Shared::kMostColumnBits;

// One dimension of the nest. Strides: data and output in bytes, index in elements.
struct SharedLoop {
  int64_t extent, data, index, output;
};

// A group is a few neighbouring columns, whose elements share sectors of memory. Item i of a group
// is update i >> column_bits of column i % columns; slot c << column_bits + j is cell c of column
// j.
struct SharedArgs {
  AnyNest batch;  // the loops outside; the rule and the one coordinate
  ScatterCall call;
  SharedLoop updates;  // of one column, in order; data is 0
  SharedLoop column;   // neighbouring columns
  int64_t cell_stride;
  int64_t groups, groups_of_point;  // in all; per point of batch
  int column_bits;
  int cells;  // of a column
  int chunk;  // items that are in shared memory at a time
  Indices indices;
  int index_bytes;
  bool in_lines;  // a column's updates, indices and cells each follow one another
};

struct SharedCall {
  SharedArgs args;
  DType type;
  unsigned blocks;
  int threads;
  size_t shared_bytes;
};

// The one loop that walks over the updates of a column; -1: there is none, or more than one.
int updates_loop(const Nest& nest);
// The nest without it: its points are columns.
Nest columns_nest(const Nest& nest);

// Neighbouring columns that a block takes together, of a nest that cuda.shared accepts.
int64_t shared_columns(const Nest& nest);

template <Reduction kReduction>
void launch_shared(const SharedCall& call);

}  // namespace sheaf::cuda
