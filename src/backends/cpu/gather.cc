// SPDX-License-Identifier: MIT
//
// The kernel families of the CPU: who takes which nest, and how it is cut into tiles.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/backend.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/probe.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/tiles.h"

namespace sheaf {
namespace {

using cpu::kLine;
using cpu::Tiling;

constexpr int64_t kNarrowRow = 64;
// Rows asked for ahead of their turn: 32 narrow ones, or 8 KiB of wide ones, hide a memory latency.
constexpr int64_t kPrefetchRows = 32;
constexpr int64_t kPrefetchBytes = 8192;
// An output larger than this is written around the cache. A fraction of the last level: it is
// shared with the inputs, and with whatever else runs.
constexpr int64_t kStreamedOutput = int64_t{32} << 20;
// A row that the indices jump about in is brought into the first-level cache up to this size.
constexpr int64_t kAheadBytes = int64_t{64} << 10;

bool worth_streaming(const Nest& nest, const Tiling& tiling, int threads) {
  const int64_t bytes = cpu::point_count(nest) * nest.row_bytes;
  if (bytes <= std::min(kStreamedOutput, cpu::caches().last / 4) ||
      tiling.inner.output != nest.row_bytes) {
    return false;
  }
  // Where nothing but the output goes through the last level, many threads write it there faster
  // than to memory.
  if (threads > 1 && bytes <= cpu::caches().last / 2) {
    const ByteRange reach = cpu::data_reach(nest);
    if (reach.hi - reach.lo <= cpu::caches().l2) {
      return false;
    }
  }
  // Narrow rows leave most of each line they read unused: that, not the writing, is their cost,
  // unless they come from a cache.
  return nest.row_bytes >= kLine || tiling.hardware_gather;
}

// Offsets of a block stay within 2^31: what the indices reach, and the steps of data along it.
bool fits_gather_instruction(const Nest& nest, const Tiling& tiling) {
  const bool row_fits = nest.row_bytes == 4 || nest.row_bytes == 8;
  return row_fits && tiling.inner.output == nest.row_bytes && tiling.prefetch_rows == 0 &&
         cpu::reach_of_indices(nest) < (int64_t{1} << 30) &&
         std::abs(tiling.inner.data) < (int64_t{1} << 30) / cpu::kBlock &&
         cpu::gather_instruction_wins();
}

// Rows that are in cache want no offsets to be stored first; rows of whole lines may be streamed,
// which move does.
bool fits_direct_move(const Nest& nest, const Tiling& tiling) {
  const bool clamps =
      nest.out_of_range != OutOfRange::kFill && nest.out_of_range != OutOfRange::kWrap;
  const bool narrow = nest.row_bytes < kLine && tiling.inner.output == nest.row_bytes;
  return narrow && tiling.prefetch_rows == 0 && !tiling.same_indices && clamps &&
         tiling.inner.index == 1 && nest.coordinates.size() == 1 &&
         (nest.index_type == i64 || nest.index_type == i32);
}

// The rows that the indices jump about in follow each other along the middle loop: while one is in
// use, the next is brought in.
int64_t next_data_bytes(const Nest& nest, const Tiling& tiling) {
  const int64_t reach = cpu::reach_of_indices(nest);
  const bool forward = std::all_of(nest.coordinates.begin(), nest.coordinates.end(),
                                   [](const Coordinate& c) { return c.stride >= 0; });
  const bool near = tiling.prefetch_rows == 0 && reach <= kAheadBytes;
  return near && forward && tiling.middle.data >= reach ? reach : 0;
}

int64_t prefetch_rows(const Nest& nest) {
  if (cpu::reach_of_indices(nest) <= cpu::caches().l2 / 2) {
    return 0;
  }
  return std::clamp<int64_t>(kPrefetchBytes / nest.row_bytes, 2, kPrefetchRows);
}

// Rows of a few bytes still cost a line each where they are not in cache.
int64_t cost_in_bytes(const Nest& nest, const Tiling& tiling) {
  return cpu::point_count(nest) *
         std::max(nest.row_bytes, tiling.prefetch_rows > 0 ? kLine : int64_t{4});
}

// Tiles are as large as the caches like them; several threads want several each.
void cut_for_threads(const Nest& nest, Tiling& tiling, int threads) {
  const int64_t wanted = int64_t{threads} * 4;
  const int64_t least_inner = nest.row_bytes < kLine ? kLine : 1;  // tiles share no line
  while (tiling.tiles() < wanted) {
    if (tiling.middle_tile > 1 && !tiling.pack_strips) {
      tiling.middle_tile = (tiling.middle_tile + 1) / 2;
    } else if (tiling.inner_tile > least_inner) {
      tiling.inner_tile = std::max(least_inner, tiling.inner_tile / 2 / least_inner * least_inner);
    } else {
      return;
    }
  }
}

void run_tiling(const Nest& nest, Tiling& tiling, const Buffers& buffers, int limit) {
  tiling.next_data_bytes = next_data_bytes(nest, tiling);
  tiling.hardware_gather = fits_gather_instruction(nest, tiling);
  tiling.direct = fits_direct_move(nest, tiling);
  tiling.short_offsets = tiling.hardware_gather && tiling.same_indices &&
                         nest.out_of_range != OutOfRange::kFill &&
                         cpu::routines().gather_short != nullptr;
  const cpu::Threads threads = cpu::worthwhile_threads(cost_in_bytes(nest, tiling), limit);
  tiling.stream = worth_streaming(nest, tiling, threads.count);
  if (threads.count > 1) {
    cut_for_threads(nest, tiling, threads.count);
  }
  cpu::parallel_ranges(tiling.tiles(), threads, [&](int64_t begin, int64_t end) {
    cpu::run_tiles(nest, tiling, buffers, begin, end);
  });
}

// A contiguous row for each index, rows side by side in the output.
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

const char* wide_refusal(const Nest& nest) {
  if (nest.row_bytes <= kNarrowRow) {
    return "rows of 64 bytes or less";
  }
  return rows_shape_refusal(nest);
}

const char* narrow_refusal(const Nest& nest) {
  if (nest.row_bytes > kNarrowRow) {
    return "rows of more than 64 bytes";
  }
  return rows_shape_refusal(nest);
}

// A call of a few dozen rows is over in less time than it takes to cut it into tiles.
constexpr int64_t kSmallCall = 256;  // rows
constexpr int64_t kSmallOutput = int64_t{32} << 10;

bool is_small(const Nest& nest) {
  return nest.loops.size() == 1 && nest.loops[0].extent <= kSmallCall &&
         nest.loops[0].extent * nest.row_bytes <= kSmallOutput &&
         nest.out_of_range != OutOfRange::kFill;
}

void run_small_rows(const Nest& nest, const Buffers& buffers) {
  const Loop& loop = nest.loops[0];
  int64_t offsets[kSmallCall];
  cpu::routines().resolve(nest, {buffers.indices, loop.index, loop.extent, loop.data}, offsets);
  cpu::RowMove rows{};
  rows.data = buffers.data;
  rows.offsets = offsets;
  rows.count = loop.extent;
  rows.output = buffers.output;
  rows.output_step = loop.output;
  rows.row_bytes = nest.row_bytes;
  rows.prefetch_rows = prefetch_rows(nest);
  cpu::routines().move(rows);
}

void run_rows(const Nest& nest, const Buffers& buffers, int threads) {
  if (is_small(nest)) {
    run_small_rows(nest, buffers);
    return;
  }
  Tiling tiling = cpu::tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  // About 64 KiB of output a tile; narrow rows by the 64, so that tiles share no line of it.
  const int64_t rows = std::max<int64_t>(1, (int64_t{64} << 10) / nest.row_bytes);
  tiling.inner_tile =
      std::min(tiling.inner.extent, nest.row_bytes < kLine ? rows / kLine * kLine : rows);
  run_tiling(nest, tiling, buffers, threads);
}

// The index picks inside an inner axis and is the same for every row of the middle loop.
const char* lookup_refusal(const Nest& nest) {
  if (nest.loops.size() < 2) {
    return "no loop around the indices";
  }
  if (const char* shape = rows_shape_refusal(nest)) {
    return shape;
  }
  return nest.loops[nest.loops.size() - 2].index == 0 ? nullptr : "each row has indices of its own";
}

void run_lookup(const Nest& nest, const Buffers& buffers, int threads) {
  Tiling tiling = cpu::tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  tiling.same_indices = true;
  tiling.inner_tile = tiling.inner.extent;
  // As many rows a tile as stay in cache while block after block of indices is looked up in them.
  const int64_t rows = cpu::caches().l2 / 4 / cpu::reach_of_indices(nest);
  tiling.middle_tile = std::clamp<int64_t>(rows, 1, tiling.middle.extent);
  run_tiling(nest, tiling, buffers, threads);
}

// An index for every element, data moving along with it: gather_elements off the last axis.
const char* columns_refusal(const Nest& nest) {
  if (nest.loops.size() < 2 || nest.coordinates.empty()) {
    return "fewer than two loops, or no index";
  }
  const Loop& inner = nest.loops.back();
  if (inner.data == 0 || inner.index == 0) {
    return "the innermost loop does not move data and indices together";
  }
  return nullptr;
}

// Whether a strip of columns is worth copying: data does not fit the cache in its own place, strips
// of whole lines do, and each entry is used about as often as it is copied.
bool worth_packing(const Nest& nest, const Tiling& tiling) {
  if (nest.coordinates.size() != 1 || tiling.inner.data != nest.row_bytes ||
      tiling.middle.data != 0) {
    return false;
  }
  const int64_t entries = nest.coordinates[0].extent;
  const int64_t room = cpu::caches().l2 / 2;
  return entries <= room / kLine && entries * nest.row_bytes > room / tiling.inner.extent &&
         tiling.middle.extent >= entries / 2;
}

void run_columns(const Nest& nest, const Buffers& buffers, int threads) {
  Tiling tiling = cpu::tile_nest(nest);
  tiling.pack_strips = worth_packing(nest, tiling);
  // A strip of columns whose part of data fits the second-level cache, at least a line wide: the
  // lines an index brings in serve the strip's other rows too.
  const int64_t entries = cpu::entry_count(nest, cpu::caches().l2);
  const int64_t width = std::max<int64_t>(1, std::abs(tiling.inner.data));
  const int64_t room = cpu::caches().l2 / (tiling.pack_strips ? 2 : 1);
  const int64_t fitting = room / entries / width;
  tiling.inner_tile = std::clamp<int64_t>(std::max(fitting, kLine / width), 1, tiling.inner.extent);
  tiling.middle_tile = tiling.middle.extent;
  run_tiling(nest, tiling, buffers, threads);
}

const char* accepts_everything(const Nest&) { return nullptr; }

void run_strided(const Nest& nest, const Buffers& buffers, int threads) {
  Tiling tiling = cpu::tile_nest(nest);
  tiling.prefetch_rows = prefetch_rows(nest);
  run_tiling(nest, tiling, buffers, threads);
}

// First that accepts wins.
constexpr Kernel kGather[] = {
    {"cpu.lookup", lookup_refusal, run_lookup},       {"cpu.rows_wide", wide_refusal, run_rows},
    {"cpu.rows_narrow", narrow_refusal, run_rows},    {"cpu.columns", columns_refusal, run_columns},
    {"cpu.strided", accepts_everything, run_strided},
};

bool all_in_range(const Nest& nest, const std::byte* indices, int limit) {
  std::span<const IndexLoop> outer(nest.index_loops.begin(), nest.index_loops.end());
  IndexLoop inner{1, 0};
  if (!outer.empty()) {
    inner = outer.back();
    outer = outer.first(outer.size() - 1);
  }
  if (outer.empty() && inner.extent <= kSmallCall) {
    return cpu::routines().check(nest, indices, inner.stride, inner.extent);
  }
  int64_t runs = 1;
  for (const IndexLoop& loop : outer) {
    runs *= loop.extent;
  }
  if (runs == 0 || inner.extent == 0) {
    return true;
  }
  constexpr int64_t kPiece = 16384;
  const int64_t pieces = (inner.extent - 1) / kPiece + 1;
  const int64_t bytes = runs * inner.extent * nest.coordinates.size() * nest.index_type.bytes();
  std::atomic<bool> good{true};
  cpu::parallel_ranges(
      runs * pieces, cpu::worthwhile_threads(bytes, limit), [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end && good.load(std::memory_order_relaxed); ++at) {
          const int64_t first = at % pieces * kPiece;
          int64_t run = at / pieces;
          int64_t element = first * inner.stride;
          for (size_t l = outer.size(); l-- > 0;) {
            element += run % outer[l].extent * outer[l].stride;
            run /= outer[l].extent;
          }
          if (!cpu::routines().check(nest, indices + element * nest.index_type.bytes(),
                                     inner.stride, std::min(kPiece, inner.extent - first))) {
            good.store(false, std::memory_order_relaxed);
          }
        }
      });
  return good.load();
}

}  // namespace

const Backend* cpu_backend() {
  static const Backend kBackend{"cpu", kGather, cpu::kScatterKernels, all_in_range, cpu::copy};
  return &kBackend;
}

}  // namespace sheaf
