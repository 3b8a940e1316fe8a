// SPDX-License-Identifier: MIT
//
// Which nests the gather kernels take, and the tiles that they cut them into.
#include <algorithm>
#include <cstdlib>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/points.h"
#include "plan/nest_shape.h"

namespace sheaf::cpu {
namespace {

// Why rows are not one contiguous row per index, side by side in the output; null if they are.
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

// cpu.small: a call of a few rows, without tiles.

const char* small_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() != 1) {
    return "not a single loop over rows";
  }
  if (nest.loops[0].extent > kGather.small_rows ||
      nest.loops[0].extent * nest.row_bytes > kGather.small_bytes) {
    return "more than 256 rows, or than 32 KiB";
  }
  if (nest.out_of_range == OutOfRange::kFill) {
    return "rows may have to be filled";
  }
  return rows_shape_refusal(nest);
}

bool run_small(const Nest& nest, const GatherBuffers& buffers, const Launch& /*launch*/) {
  const Loop& loop = nest.loops[0];
  int64_t offsets[kGather.small_rows];
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
  rows_mover(rows)(rows);
  return true;
}

// cpu.lookup: the index picks inside an inner axis and is the same for every row of the middle
// loop.

const char* lookup_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() < 2) {
    return "no loop around the indices";
  }
  if (const char* shape = rows_refusal(query)) {
    return shape;
  }
  return nest.loops[nest.loops.size() - 2].index == 0 ? nullptr : "each row has its own indices";
}

Tiling cut_lookup(const Nest& nest) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  tiling.same_indices = true;
  tiling.inner_tile = tiling.inner.extent;
  // As many rows per tile as stay in cache while block after block of indices is looked up in them.
  const int64_t rows = caches().l2 / 4 / reach_of_indices(nest);
  tiling.middle_tile = std::clamp<int64_t>(rows, 1, tiling.middle.extent);
  return tiling;
}

// cpu.rows: one contiguous row per index.

const char* rows_refusal(const KernelQuery& query) { return rows_shape_refusal(query.nest); }

Tiling cut_rows(const Nest& nest) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  // Narrow rows in multiples of 64, so that tiles share no line.
  const int64_t rows = std::max<int64_t>(1, kGather.tile_bytes / nest.row_bytes);
  tiling.inner_tile =
      std::min(tiling.inner.extent, nest.row_bytes < kLine ? rows / kLine * kLine : rows);
  return tiling;
}

// cpu.columns: one index per element, with data moving along: gather_elements off the last axis.

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

Tiling cut_columns(const Nest& nest) {
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
  return tiling;
}

// cpu.strided: every other nest.

const char* strided_refusal(const KernelQuery& /*query*/) { return nullptr; }

Tiling cut_strided(const Nest& nest) {
  Tiling tiling = tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  return tiling;
}

}  // namespace sheaf::cpu
