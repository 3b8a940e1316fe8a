// SPDX-License-Identifier: MIT
//
// A scatter as the device sorts it. Every tuple of indices gets a key: the number of the cell it
// leads to. Tuples sorted by key, each cell's in their own order, make the cells independent.
//
//   tuples   the loops that indices hang on, in order: their points are what is sorted
//   slices   the loops along which a tuple's cell goes on; two slices never meet in one element
#pragma once

#include "backends/cuda/nest.h"
#include "plan/request.h"

namespace sheaf::cuda {

struct ScatterNest {
  Nest tuples;  // its coordinates lead to a cell; row_bytes is what a point of the slices moves
  Nest slices;  // no coordinates
  int64_t tuple_count, slice_count;
  // Cells are at lowest + key * unit.
  int64_t lowest, unit, key_count;

  bool wide() const;  // keys or tuple numbers need 64 bits
  int key_bits() const;
};

// For a nest that is not empty.
ScatterNest scatter_nest(const Nest& nest);

// What a scatter keeps in its workspace, after the verdict: offsets from there.
struct ScatterLayout {
  size_t keys[2], tuples[2];
  size_t heads, head_count;
  size_t long_lists, long_count;
  size_t sorting, sorting_bytes;
  size_t counts;  // of a mean
  size_t bytes;   // in all
};
ScatterLayout scatter_layout(const Plan& plan);

// Whether a plan's updates are joined by atomics.
bool joins_by_atomics(const Plan& plan);

}  // namespace sheaf::cuda
