// SPDX-License-Identifier: MIT
//
// How a nest is cut into tiles: the two innermost loops by ranges, the others point by point. A
// kernel is a choice of tile; a mover (movers.h) is what happens inside one.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/movers/movers.h"
#include "execution/backend.h"

namespace sheaf::cpu {

struct Tiling {
  std::span<const Loop> outer;  // the nest's own
  Loop middle, inner;
  int64_t middle_tile, inner_tile;  // extents of one tile
  bool same_indices;                // the middle loop does not move the indices: resolve them once
  bool pack_strips;                 // copy a tile's part of data side by side first; as Strip says
  int64_t prefetch_rows;            // as in RowMove
  int64_t runs_together;            // steps of the middle loop that are moved as one run, whole
  int64_t next_data_bytes;  // of the middle loop's next step, to be prefetched; 0: not worth it
  const Mover* mover;

  int64_t tiles() const;
};

// The whole nest as one row of tiles: inner_tile points of the innermost loop each.
Tiling tile_nest(const Nest& nest);

// Moves tiles [begin, end), or those until the launch is cancelled. False if it checks
// (launch.check_while_moving) and an index was bad.
bool run_tiles(const Nest& nest, const Tiling& tiling, const GatherBuffers& buffers,
               const Launch& launch, int64_t begin, int64_t end);

}  // namespace sheaf::cpu
