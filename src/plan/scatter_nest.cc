// SPDX-License-Identifier: MIT
#include "plan/scatter_nest.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "plan/nest_shape.h"

namespace sheaf {
namespace {

bool is_slice(const Loop& loop) { return loop.index == 0 && loop.window == 0 && loop.data != 0; }

// One tuple per element: that of its window, and its position in the window.
Nest by_elements(Nest nest) {
  if (nest.row_bytes > nest.element_bytes) {
    nest.loops.push_back(
        {nest.row_bytes / nest.element_bytes, nest.element_bytes, 0, nest.element_bytes, 0});
    nest.row_bytes = nest.element_bytes;
  }
  return nest;
}

// Numbers the cells that the tuples can lead to.
void number_cells(ScatterNest& scatter) {
  int64_t lowest = 0, highest = 0, unit = 0;
  const auto add = [&](int64_t extent, int64_t stride) {
    if (extent > 1) {
      (stride < 0 ? lowest : highest) += (extent - 1) * stride;
      unit = std::gcd(unit, stride);
    }
  };
  for (const Loop& loop : scatter.tuples.loops) {
    add(loop.data == 0 ? 1 : loop.extent, loop.data);
  }
  for (const Coordinate& coordinate : scatter.tuples.coordinates) {
    add(coordinate.extent, coordinate.stride);
  }
  scatter.lowest = lowest;
  scatter.unit = std::max<int64_t>(unit, 1);
  scatter.key_count = (highest - lowest) / scatter.unit + 1;
}

}  // namespace

bool ScatterNest::wide() const {
  constexpr int64_t kNarrow = (int64_t{1} << 32) - 1;
  return tuple_count >= kNarrow || key_count >= kNarrow;
}

// Skipped tuples have a key of their own, behind those of the cells; under clamp and wrap there are
// none.
int ScatterNest::key_bits() const {
  const OutOfRange rule = tuples.out_of_range;
  const bool all_lead = rule == OutOfRange::kClamp || rule == OutOfRange::kWrap;
  const int64_t largest = all_lead ? key_count - 1 : key_count;
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(largest))));
}

ScatterNest scatter_nest(const Nest& nest) {
  ScatterNest scatter{};
  const bool apart = rows_apart(nest);
  scatter.tuples = apart ? nest : by_elements(nest);
  scatter.slices = scatter.tuples;
  scatter.slices.coordinates.clear();
  scatter.slices.loops.clear();
  if (apart) {
    scatter.tuples.loops.clear();
    for (const Loop& loop : nest.loops) {
      (is_slice(loop) ? scatter.slices : scatter.tuples).loops.push_back(loop);
    }
  }
  scatter.tuple_count = point_count(scatter.tuples);
  scatter.slice_count = point_count(scatter.slices);
  number_cells(scatter);
  return scatter;
}

}  // namespace sheaf
