// SPDX-License-Identifier: MIT
//
// A sharded operator as numbered cells. A cell is what one index tuple names: an entry of the split
// axis, and a position on the other axes that the tuple, or its place in the index tensor, decides.
// A row is the elements of one cell. Routing knows only cells and rows; operators end here.
#pragma once

#include <cstdint>

#include "plan/request.h"

namespace sheaf::distributed {

struct CellSpace {
  // cell = entry of the split axis * inner + position on the other axes of the cell, row-major
  int64_t inner = 1;
  Dims cell_axes;   // of data: the split axis first, then the others in order
  Dims slice_axes;  // of data: those that a row runs along

  // The grid (a gather's output, a scatter's updates) is [sections, before, tuples of a section,
  // after] row-major: a row is `before` pieces of `after` bytes.
  int64_t tuples = 1, section_tuples = 1, before = 1, after_bytes = 1;
  int64_t row_bytes() const { return before * after_bytes; }
  // Offset of the first piece of a tuple's row in the grid, in bytes; the others follow at
  // piece_stride().
  int64_t grid_offset(int64_t tuple) const {
    return ((tuple / section_tuples * before) * section_tuples + tuple % section_tuples) *
           after_bytes;
  }
  int64_t piece_stride() const { return section_tuples * after_bytes; }

  struct WalkDim {
    int64_t extent, index_stride, cell_stride;
  };
  struct Component {
    int64_t extent, index_offset, cell_stride;
  };
  Fixed<WalkDim> dims;          // of the tuples, row-major
  Fixed<Component> components;  // the first is on the split axis
};

// `plan` is the operator on the whole tensor, without strides.
CellSpace cell_space(const Plan& plan);

inline constexpr int64_t kNoCell = -1;  // a filled or skipped index

// The cells of tuples [first, first + count), row-major. Indices have been checked under kFail.
void read_cells(const CellSpace& space, const Plan& plan, const void* indices, int64_t first,
                int64_t count, int64_t* cells);

}  // namespace sheaf::distributed
