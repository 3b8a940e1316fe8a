// SPDX-License-Identifier: MIT
//
// cpu.lookup: the index picks inside an inner axis and is the same for every row of the middle
// loop.
#include <algorithm>

#include "backends/cpu/gather.h"
#include "backends/cpu/machine.h"
#include "plan/nest_shape.h"

namespace sheaf::cpu {

const char* lookup_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() < 2) {
    return "no loop around the indices";
  }
  if (const char* shape = rows_shape_refusal(nest)) {
    return shape;
  }
  return nest.loops[nest.loops.size() - 2].index == 0 ? nullptr : "each row has indices of its own";
}

bool run_lookup(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  tiling.same_indices = true;
  tiling.inner_tile = tiling.inner.extent;
  // As many rows per tile as stay in cache while block after block of indices is looked up in them.
  const int64_t rows = caches().l2 / 4 / reach_of_indices(nest);
  tiling.middle_tile = std::clamp<int64_t>(rows, 1, tiling.middle.extent);
  return run_tiling(nest, tiling, buffers, launch);
}

}  // namespace sheaf::cpu
