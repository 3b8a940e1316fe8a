// SPDX-License-Identifier: MIT
//
// How a nest is cut into tiles: the two innermost loops by ranges, the others point by point. A
// kernel family is a choice of tile; what happens inside one is the same for all.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/routines.h"
#include "execution/backend.h"

namespace sheaf::cpu {

struct Tiling {
  std::span<const Loop> outer;  // the nest's own
  Loop middle, inner;
  int64_t middle_tile, inner_tile;  // extents of one tile
  bool same_indices;                // the middle loop does not move the indices: resolve them once
  int64_t prefetch_rows;            // as in RowMove
  int64_t next_data_bytes;          // read by the middle loop's next step; 0: not worth asking for
  bool stream, hardware_gather;
  bool short_offsets;     // gather_short in place of move
  bool direct;            // move_direct in place of resolve and move
  bool check;             // report bad indices under kFail
  bool pack_strips;       // copy a tile's part of data side by side first; as Strip says
  int64_t runs_together;  // steps of the middle loop that are moved as one run, whole

  int64_t tiles() const;
};

// The whole nest as one row of tiles: inner_tile points of the innermost loop each.
Tiling tile_nest(const Nest& nest);

// Moves tiles [begin, end), or those until the launch is cancelled. False if tiling.check is set
// and an index was bad.
bool run_tiles(const Nest& nest, const Tiling& tiling, const GatherBuffers& buffers,
               const Launch& launch, int64_t begin, int64_t end);

}  // namespace sheaf::cpu
