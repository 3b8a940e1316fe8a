// SPDX-License-Identifier: MIT
//
// Rows between the grid (output or updates, where a row is `before` pieces apart) and packed
// buffers.
#pragma once

#include <cstddef>
#include <cstring>

#include "distributed/cells.h"

namespace sheaf::distributed {

// memcpy, with a length that the compiler knows where rows are short. Rows of no bytes may be null.
inline void copy_piece(std::byte* to, const std::byte* from, int64_t bytes) {
  switch (bytes) {
    case 0: break;
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

inline void unpack_row(const CellSpace& space, int64_t tuple, const std::byte* row,
                       std::byte* grid) {
  std::byte* to = grid + space.grid_offset(tuple);
  for (int64_t piece = 0; piece < space.before; ++piece) {
    copy_piece(to + piece * space.piece_stride(), row + piece * space.after_bytes,
               space.after_bytes);
  }
}

inline void pack_row(const CellSpace& space, int64_t tuple, const std::byte* grid, std::byte* row) {
  const std::byte* from = grid + space.grid_offset(tuple);
  for (int64_t piece = 0; piece < space.before; ++piece) {
    copy_piece(row + piece * space.after_bytes, from + piece * space.piece_stride(),
               space.after_bytes);
  }
}

}  // namespace sheaf::distributed
