// SPDX-License-Identifier: MIT
//
// What a tile's size, the caches and the number of threads decide for every kernel family.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>

#include "backends/cpu/gather.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/probe.h"
#include "backends/cpu/short_runs.h"

namespace sheaf::cpu {
namespace {

// Rows asked for ahead of their turn: 32 narrow ones, or 8 KiB of wide ones, hide a memory latency.
constexpr int64_t kPrefetchRows = 32;
constexpr int64_t kPrefetchBytes = 8192;
// An output larger than this is written around the cache. A fraction of the last level: it is
// shared with the inputs, and with whatever else runs. A core that gathers rows of 256 bytes needs
// 51 ns each into an output of 32 MiB that goes through the cache, and 22 into one that does not.
constexpr int64_t kStreamedOutput = int64_t{16} << 20;
// Points of a tile of short runs: some blocks, so that what a tile costs by itself does not matter.
constexpr int64_t kJoinedPoints = 8 * kBlock;

bool worth_streaming(const Nest& nest, const Tiling& tiling, int threads) {
  if (!kStreamingStores) {
    return false;
  }
  const int64_t bytes = point_count(nest) * nest.row_bytes;
  if (!exceeds_cache(bytes) || tiling.inner.output != nest.row_bytes) {
    return false;
  }
  // Where nothing but the output goes through the last level, many threads write it there faster
  // than to memory.
  if (threads > 1 && bytes <= caches().last / 2) {
    const ByteRange reach = data_reach(nest);
    if (reach.hi - reach.lo <= caches().l2) {
      return false;
    }
  }
  return nest.row_bytes >= kLine || tiling.hardware_gather ||
         (nest.row_bytes % kStreamPiece == 0 && tiling.prefetch_rows > 0);
}

// Rows of 4 and 8 bytes, side by side and in cache, whose offsets along a block stay within 2^31:
// what the indices reach, and the steps of data.
bool fits_short_offsets(const Nest& nest, const Tiling& tiling) {
  const bool row_fits = nest.row_bytes == 4 || nest.row_bytes == 8;
  return row_fits && tiling.inner.output == nest.row_bytes && tiling.prefetch_rows == 0 &&
         reach_of_indices(nest) < (int64_t{1} << 30) &&
         std::abs(tiling.inner.data) < (int64_t{1} << 30) / kDirectBlock;
}

bool streams_lines(const Nest& nest, const Tiling& tiling, const std::byte* output) {
  const bool data_moves = tiling.inner.data != 0 || tiling.runs_together > 1;
  return tiling.stream && makes_lines(nest, data_moves, output);
}

// Narrow rows want no offsets to be stored first. On x86, rows of whole lines may be streamed, and
// rows that are not in cache are prefetched from stored offsets; move does both, but for those that
// make up lines and are streamed directly. Measured on a Xeon: rows of 16 to 64 bytes from far away
// take 0.6 to 0.85 of the time of move, rows of 64 bytes from a cache 0.7.
bool fits_direct_move(const Nest& nest, const Tiling& tiling, const std::byte* output) {
  const bool clamps =
      nest.out_of_range != OutOfRange::kFill && nest.out_of_range != OutOfRange::kWrap;
  const bool narrow = nest.row_bytes <= kNarrowBytes && tiling.inner.output == nest.row_bytes;
  const bool left_to_move = kStreamingStores &&
                            (nest.row_bytes == kNarrowBytes || tiling.prefetch_rows > 0) &&
                            !streams_lines(nest, tiling, output);
  const bool fits_places =
      tiling.runs_together == 1 || std::has_single_bit(uint64_t(nest.row_bytes));
  return narrow && !left_to_move && fits_places && !tiling.same_indices && clamps &&
         tiling.inner.index == 1 && nest.coordinates.size() == 1 &&
         (nest.index_type == i64 || nest.index_type == i32);
}

// The rows that the indices jump about in follow each other along the middle loop: while one is in
// use, the next is brought in. Those of runs that are moved together the processor sees coming.
int64_t next_data_bytes(const Nest& nest, const Tiling& tiling) {
  const int64_t reach = reach_of_indices(nest);
  const bool forward = std::all_of(nest.coordinates.begin(), nest.coordinates.end(),
                                   [](const Coordinate& c) { return c.stride >= 0; });
  const bool near = tiling.prefetch_rows == 0 && reach <= kNearData && tiling.runs_together == 1;
  return near && forward && tiling.middle.data >= reach ? reach : 0;
}

// Tiles of short runs have at least kJoinedPoints points.
void join_short_runs(const Nest& nest, Tiling& tiling) {
  tiling.runs_together = 1;
  if (tiling.same_indices || tiling.pack_strips || tiling.inner_tile < tiling.inner.extent) {
    return;
  }
  tiling.runs_together = runs_together(tiling.middle, tiling.inner, nest.row_bytes);
  if (tiling.runs_together > 1) {
    tiling.middle_tile =
        std::min(tiling.middle.extent,
                 std::max(tiling.middle_tile, divided_up(kJoinedPoints, tiling.inner.extent)));
  }
}

// Rows of a few bytes still cost a line each where they are not in cache.
int64_t cost_in_bytes(const Nest& nest, const Tiling& tiling) {
  return point_count(nest) *
         std::max(nest.row_bytes, tiling.prefetch_rows > 0 ? kLine : int64_t{4});
}

// Tiles are as large as the caches like them; several threads want several each.
void cut_for_threads(const Nest& nest, Tiling& tiling, int threads) {
  const int64_t wanted = int64_t{threads} * 4;
  const int64_t least_inner = nest.row_bytes < kLine ? kLine : 1;  // tiles share no line
  while (tiling.tiles() < wanted) {
    if (tiling.middle_tile > 1 && !tiling.pack_strips) {
      tiling.middle_tile = (tiling.middle_tile + 1) / 2;
    } else if (tiling.inner_tile > least_inner && tiling.runs_together == 1) {
      tiling.inner_tile = std::max(least_inner, tiling.inner_tile / 2 / least_inner * least_inner);
    } else {
      return;
    }
  }
}

}  // namespace

int64_t prefetch_rows(const Nest& nest) {
  if (reach_of_indices(nest) <= caches().l2 / 2) {
    return 0;
  }
  return rows_ahead(nest.row_bytes);
}

int64_t rows_ahead(int64_t row_bytes) {
  return std::clamp<int64_t>(kPrefetchBytes / row_bytes, 2, kPrefetchRows);
}

bool exceeds_cache(int64_t output_bytes) {
  return output_bytes > std::min(kStreamedOutput, caches().last / 4);
}

bool run_tiling(const Nest& nest, Tiling& tiling, const GatherBuffers& buffers,
                const Launch& launch) {
  tiling.check = launch.check_while_moving;
  join_short_runs(nest, tiling);
  tiling.next_data_bytes = next_data_bytes(nest, tiling);
  const bool fits_short = fits_short_offsets(nest, tiling);
  tiling.hardware_gather = fits_short && gather_instruction_wins();
  tiling.short_offsets = (tiling.hardware_gather || (kArm64 && fits_short)) &&
                         tiling.same_indices && nest.out_of_range != OutOfRange::kFill &&
                         routines().gather_short != nullptr;
  const Threads threads = worthwhile_threads(cost_in_bytes(nest, tiling), launch.threads);
  tiling.stream = worth_streaming(nest, tiling, threads.count);
  tiling.direct = fits_direct_move(nest, tiling, buffers.output);
  if (threads.count > 1) {
    cut_for_threads(nest, tiling, threads.count);
  }
  std::atomic<bool> good{true};
  parallel_ranges(tiling.tiles(), threads, [&](int64_t begin, int64_t end) {
    if (!run_tiles(nest, tiling, buffers, launch, begin, end)) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace sheaf::cpu
