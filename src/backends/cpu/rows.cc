// SPDX-License-Identifier: MIT
//
// cpu.small, cpu.rows_wide and cpu.rows_narrow: one contiguous row per index.
#include <algorithm>

#include "backends/cpu/gather.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/points.h"

namespace sheaf::cpu {
namespace {

// A call of a few dozen rows is over in less time than it takes to cut it into tiles.
constexpr int64_t kSmallCall = 256;  // rows
constexpr int64_t kSmallOutput = int64_t{32} << 10;
// Output of a tile. Every tile starts without rows on their way, so it should not be short.
constexpr int64_t kTileOutput = int64_t{1} << 20;

}  // namespace

const char* rows_shape_refusal(const Nest& nest) {
  if (nest.loops.empty() || nest.coordinates.empty()) {
    return "a single row, or no index";
  }
  const Loop& inner = nest.loops.back();
  if (inner.index == 0 || inner.data != 0) {
    return "the innermost loop does not walk over indices alone";
  }
  return inner.output == nest.row_bytes ? nullptr : "rows are not side by side in the output";
}

const char* wide_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.row_bytes <= kNarrowBytes) {
    return "rows of 64 bytes or less";
  }
  return rows_shape_refusal(nest);
}

const char* narrow_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.row_bytes > kNarrowBytes) {
    return "rows of more than 64 bytes";
  }
  return rows_shape_refusal(nest);
}

const char* small_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() != 1) {
    return "not a single loop over rows";
  }
  if (nest.loops[0].extent > kSmallCall || nest.loops[0].extent * nest.row_bytes > kSmallOutput) {
    return "more than 256 rows, or than 32 KiB";
  }
  if (nest.out_of_range == OutOfRange::kFill) {
    return "rows may have to be filled";
  }
  return rows_shape_refusal(nest);
}

bool run_small(const Nest& nest, const GatherBuffers& buffers, const Launch& /*launch*/) {
  const Loop& loop = nest.loops[0];
  int64_t offsets[kSmallCall];
  if (!routines().resolve(nest,
                          {.indices = buffers.indices,
                           .stride = loop.index,
                           .count = loop.extent,
                           .data_step = loop.data,
                           .check = nest.out_of_range == OutOfRange::kFail},
                          offsets)) {
    return false;
  }
  RowMove rows{};
  rows.data = buffers.data;
  rows.offsets = offsets;
  rows.count = loop.extent;
  rows.output = buffers.output;
  rows.output_step = loop.output;
  rows.row_bytes = nest.row_bytes;
  rows.prefetch_rows = prefetch_rows(nest);
  routines().move(rows);
  return true;
}

bool run_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  // Narrow rows in multiples of 64, so that tiles share no line.
  const int64_t rows = std::max<int64_t>(1, kTileOutput / nest.row_bytes);
  tiling.inner_tile =
      std::min(tiling.inner.extent, nest.row_bytes < kLine ? rows / kLine * kLine : rows);
  return run_tiling(nest, tiling, buffers, launch);
}

}  // namespace sheaf::cpu
