// SPDX-License-Identifier: MIT
#include "plan/nest.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace sheaf {

int64_t point_count(const Nest& nest) {
  int64_t points = 1;
  for (const Loop& loop : nest.loops) {
    points *= loop.extent;
  }
  return points;
}

bool rows_apart(const Nest& nest) {
  struct Mover {
    int64_t extent, stride;
  };
  std::array<Mover, size_t{2} * kMaxRank> movers;
  size_t count = 0;
  for (const Loop& loop : nest.loops) {
    if (loop.window != 0) {
      return false;
    }
    if (loop.data != 0) {
      movers[count++] = {loop.extent, std::abs(loop.data)};
    }
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    if (coordinate.extent > 1) {
      movers[count++] = {coordinate.extent, std::abs(coordinate.stride)};
    }
  }
  std::sort(movers.begin(), movers.begin() + static_cast<ptrdiff_t>(count),
            [](const Mover& a, const Mover& b) { return a.stride < b.stride; });
  int64_t span = nest.row_bytes;
  for (size_t m = 0; m < count; ++m) {
    if (movers[m].stride < span) {
      return false;
    }
    span += (movers[m].extent - 1) * movers[m].stride;
  }
  return true;
}

}  // namespace sheaf
