// SPDX-License-Identifier: MIT
//
// A scatter as devices sort it. Every tuple of indices gets a key: the number of the cell it
// leads to. Tuples sorted by key, each cell's in their own order, make the cells independent.
//
//   tuples   the loops that indices depend on, in order: their points are what is sorted
//   slices   the loops over the elements of a cell; two slices never share an element
#pragma once

#include "sheaf/plan.h"

namespace sheaf {

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

}  // namespace sheaf
