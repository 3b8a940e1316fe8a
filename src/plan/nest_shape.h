// SPDX-License-Identifier: MIT
//
// Questions about the shape of a nest that every backend asks: how many points, which bytes of data
// they can reach, and whether two rows can overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "sheaf/plan.h"

namespace sheaf {

inline int64_t point_count(const Nest& nest) {
  int64_t count = 1;
  for (const Loop& loop : nest.loops) {
    count *= loop.extent;
  }
  return count;
}

// Byte offsets of data that the points can reach: [lo, hi).
inline ByteRange data_reach(const Nest& nest) {
  ByteRange range{0, nest.row_bytes};
  const auto reach = [&](int64_t extent, int64_t stride) {
    (stride < 0 ? range.lo : range.hi) += (extent - 1) * stride;
  };
  for (const Loop& loop : nest.loops) {
    reach(loop.extent, loop.data);
  }
  for (const Coordinate& c : nest.coordinates) {
    reach(std::max<int64_t>(1, c.extent), c.stride);
  }
  return range;
}

// Bytes of data between the first and the last that indices can reach while all loops stand still.
inline int64_t reach_of_indices(const Nest& nest) {
  int64_t bytes = nest.row_bytes;
  for (const Coordinate& c : nest.coordinates) {
    bytes += (c.extent - 1) * std::abs(c.stride);
  }
  return bytes;
}

// True if rows at different places of the nest's data never share a byte. Windows that overlap, and
// those cut element by element, do not pass.
bool rows_apart(const Nest& nest);

}  // namespace sheaf
