// SPDX-License-Identifier: MIT
//
// What a tile's size, the caches and the number of threads decide for every kernel.
#include <algorithm>
#include <atomic>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/short_runs.h"

namespace sheaf::cpu {
namespace {

// The rows that the indices jump about in follow each other along the middle loop: while one is in
// use, the next is brought in. The hardware prefetcher follows those of runs that are moved
// together.
int64_t next_data_bytes(const Nest& nest, const Tiling& tiling) {
  const int64_t reach = reach_of_indices(nest);
  const bool forward = std::all_of(nest.coordinates.begin(), nest.coordinates.end(),
                                   [](const Coordinate& c) { return c.stride >= 0; });
  const bool near =
      tiling.prefetch_rows == 0 && reach <= kPrefetch.near_data && tiling.runs_together == 1;
  return near && forward && tiling.middle.data >= reach ? reach : 0;
}

// Tiles of short runs have at least GatherTuning::joined_points points.
void join_short_runs(const Nest& nest, Tiling& tiling) {
  tiling.runs_together = 1;
  if (tiling.same_indices || tiling.pack_strips || tiling.inner_tile < tiling.inner.extent) {
    return;
  }
  tiling.runs_together = runs_together(tiling.middle, tiling.inner, nest.row_bytes);
  if (tiling.runs_together > 1) {
    tiling.middle_tile = std::min(
        tiling.middle.extent,
        std::max(tiling.middle_tile, divided_up(kGather.joined_points, tiling.inner.extent)));
  }
}

// What follows from the sizes that a kernel has chosen.
void complete(const Nest& nest, Tiling& tiling) {
  join_short_runs(nest, tiling);
  tiling.next_data_bytes = next_data_bytes(nest, tiling);
}

// Rows of a few bytes still cost a line each where they are not in cache.
int64_t cost_in_bytes(const Nest& nest, const Tiling& tiling) {
  return point_count(nest) *
         std::max(nest.row_bytes, tiling.prefetch_rows > 0 ? kLine : int64_t{4});
}

// Tiles are as large as the caches like them; several threads want several each.
void cut_for_threads(const Nest& nest, Tiling& tiling, int threads) {
  const int64_t wanted = threads * kGather.tiles_per_thread;
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
  return std::clamp<int64_t>(kPrefetch.row_bytes / row_bytes, 2, kPrefetch.rows);
}

bool run_tiling(const Nest& nest, Tiling tiling, const GatherBuffers& buffers,
                const Launch& launch) {
  complete(nest, tiling);
  const Threads threads = worthwhile_threads(cost_in_bytes(nest, tiling), launch.threads);
  tiling.mover = &choose_mover(
      {nest, tiling, reinterpret_cast<uintptr_t>(buffers.output), threads.count}, launch.mover);
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

std::vector<MoverReport> tiling_movers(const KernelQuery& query, Tiling tiling) {
  complete(query.nest, tiling);
  const Threads threads = worthwhile_threads(cost_in_bytes(query.nest, tiling), query.threads);
  return mover_reports({query.nest, tiling, query.output, threads.count});
}

}  // namespace sheaf::cpu
