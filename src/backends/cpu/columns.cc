// SPDX-License-Identifier: MIT
//
// cpu.columns: one index per element, with data moving along: gather_elements off the last axis.
#include <algorithm>
#include <cstdlib>

#include "backends/cpu/gather.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/points.h"

namespace sheaf::cpu {
namespace {

// Whether a strip of columns is worth copying: data does not fit the cache in its own place, strips
// of whole lines do, and each entry is used about as often as it is copied.
bool worth_packing(const Nest& nest, const Tiling& tiling) {
  if (nest.coordinates.size() != 1 || tiling.inner.data != nest.row_bytes ||
      tiling.middle.data != 0) {
    return false;
  }
  const int64_t entries = nest.coordinates[0].extent;
  const int64_t room = caches().l2 / 2;
  return entries <= room / kLine && entries * nest.row_bytes > room / tiling.inner.extent &&
         tiling.middle.extent >= entries / 2;
}

}  // namespace

const char* columns_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() < 2 || nest.coordinates.empty()) {
    return "fewer than two loops, or no index";
  }
  const Loop& inner = nest.loops.back();
  if (inner.data == 0 || inner.index == 0) {
    return "the innermost loop does not move data and indices together";
  }
  return nullptr;
}

bool run_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  Tiling tiling = tile_nest(nest);
  tiling.pack_strips = worth_packing(nest, tiling);
  // A strip of columns whose part of data fits the second-level cache, at least a line wide: the
  // lines an index brings in serve the strip's other rows too.
  const int64_t entries = entry_count(nest, caches().l2);
  const int64_t width = std::max<int64_t>(1, std::abs(tiling.inner.data));
  const int64_t room = caches().l2 / (tiling.pack_strips ? 2 : 1);
  const int64_t fitting = room / entries / width;
  tiling.inner_tile = std::clamp<int64_t>(std::max(fitting, kLine / width), 1, tiling.inner.extent);
  tiling.middle_tile = tiling.middle.extent;
  return run_tiling(nest, tiling, buffers, launch);
}

}  // namespace sheaf::cpu
