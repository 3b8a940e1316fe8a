// SPDX-License-Identifier: MIT
//
// cpu.strided: every other nest.
#include "backends/cpu/gather.h"

namespace sheaf::cpu {

bool run_strided(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  return run_tiling(nest, tiling, buffers, launch);
}

}  // namespace sheaf::cpu
