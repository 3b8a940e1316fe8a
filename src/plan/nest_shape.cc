// SPDX-License-Identifier: MIT
#include "plan/nest_shape.h"

#include <array>

namespace sheaf {
namespace {

// What moves the address of a row: a loop or an index.
struct Mover {
  int64_t extent, stride;
};

}  // namespace

// Each mover steps over all that the smaller ones span.
bool rows_apart(const Nest& nest) {
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
  for (const Coordinate& c : nest.coordinates) {
    if (c.extent > 1) {
      movers[count++] = {c.extent, std::abs(c.stride)};
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
