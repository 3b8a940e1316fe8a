// SPDX-License-Identifier: MIT
//
// A sort of the tuples that chains left over: one launch, which ends at once if the device finds
// that all chains were short. (The library sort of sort.cu is faster, but once launched it sorts.)
//
// What is left is compacted in order, then sorted by digits of 8 bits, the lowest first.
// Every block has a range of the tuples. For each digit: blocks count, the counts become places,
// blocks move their tuples there in order.
#include <cooperative_groups.h>

#include <bit>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/radix_rank_sort_operations.cuh>

#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/scatter/chained.h"
#include "backends/cuda/scatter/sort.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::SortOnDemand;

constexpr int64_t kTile = int64_t{Tuning::kThreads} * Tuning::kItems;
constexpr int kDigits = 1 << Tuning::kDigitBits;
static_assert(Tuning::kThreads >= kDigits, "a thread for each digit");
constexpr uint32_t kDone = UINT32_MAX;  // the key of a tuple that is not left

struct DemandArgs {
  KeyArgs key;
  Chains chains;
  const Verdict* check;
  uint32_t* keys[2];
  uint32_t* tuples[2];
  uint32_t* counts;  // by block; or by digit and block, and behind them by digit
  int passes;
  SortedTuples sorted;
};

using Rank = cub::BlockRadixRankMatch<Tuning::kThreads, Tuning::kDigitBits, false>;
using Scan = cub::BlockScan<uint32_t, Tuning::kThreads>;

struct Shared {
  union {
    uint32_t counts[kDigits];
    Scan::TempStorage scan;
    Rank::TempStorage rank;
    uint2 items[kTile];  // keys and tuples of a tile, by digit
  };
  uint32_t next_places[kDigits];  // where the next tuple with a digit goes
  uint32_t places[kDigits];       // the same for the first of a tile, less its rank there

  __device__ Shared() {}
};

// The tuples of a block.
struct Range {
  int64_t begin, end;

  __device__ explicit Range(int64_t count) {
    const int64_t tiles = (count - 1) / kTile + 1;
    const int64_t own = ((tiles - 1) / gridDim.x + 1) * kTile;
    begin = min(blockIdx.x * own, count);
    end = min(begin + own, count);
  }
};

// The sum of a number of every thread.
__device__ uint32_t sum_of(uint32_t mine, Shared& shared) {
  uint32_t before = 0, sum = 0;
  __syncthreads();
  Scan(shared.scan).ExclusiveSum(mine, before, sum);
  return sum;
}

// Keys of all tuples, and how many of a block are left.
__device__ void make_keys(const DemandArgs& args, const Range& range, Shared& shared) {
  const Chains& chains = args.chains;
  const bool all = chains.state->crowded != 0;
  uint32_t mine = 0;
  for (int64_t tuple = range.begin + threadIdx.x; tuple < range.end; tuple += Tuning::kThreads) {
    const uint64_t key = key_of(args.key, tuple);
    const bool left = key < chains.cells && (all || chains.heads[key] == kLongChain);
    args.keys[1][tuple] = left ? static_cast<uint32_t>(key) : kDone;
    mine += left ? 1 : 0;
  }
  const uint32_t sum = sum_of(mine, shared);
  if (threadIdx.x == 0) {
    args.counts[blockIdx.x] = sum;
  }
}

// Compacts the tuples that are left, each block's behind those of the blocks before. Returns how
// many there are.
__device__ uint32_t bring_together(const DemandArgs& args, const Range& range, Shared& shared) {
  uint32_t before = 0, all = 0;
  for (uint32_t block = threadIdx.x; block < gridDim.x; block += Tuning::kThreads) {
    before += block < blockIdx.x ? args.counts[block] : 0;
    all += args.counts[block];
  }
  uint32_t to = sum_of(before, shared);
  for (int64_t tile = range.begin; tile < range.end; tile += kTile) {
    const int64_t first = tile + int64_t{threadIdx.x} * Tuning::kItems;
    uint32_t keys[Tuning::kItems], mine = 0, place = 0, sum = 0;
#pragma unroll
    for (int i = 0; i < Tuning::kItems; ++i) {
      keys[i] = first + i < range.end ? args.keys[1][first + i] : kDone;
      mine += keys[i] != kDone ? 1 : 0;
    }
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(mine, place, sum);
#pragma unroll
    for (int i = 0; i < Tuning::kItems; ++i) {
      if (keys[i] != kDone) {
        args.keys[0][to + place] = keys[i];
        args.tuples[0][to + place] = static_cast<uint32_t>(first + i);
        ++place;
      }
    }
    to += sum;
  }
  return sum_of(all, shared);
}

__device__ uint32_t digit_of(uint32_t key, int pass) {
  return key >> (pass * Tuning::kDigitBits) & (kDigits - 1);
}

__device__ void count_digits(const DemandArgs& args, const Range& range, int pass, Shared& shared) {
  for (uint32_t digit = threadIdx.x; digit < kDigits; digit += Tuning::kThreads) {
    shared.counts[digit] = 0;
  }
  __syncthreads();
  const uint32_t* const keys = args.keys[pass % 2];
  for (int64_t at = range.begin + threadIdx.x; at < range.end; at += Tuning::kThreads) {
    atomicAdd(&shared.counts[digit_of(keys[at], pass)], 1U);
  }
  __syncthreads();
  for (uint32_t digit = threadIdx.x; digit < kDigits; digit += Tuning::kThreads) {
    args.counts[digit * gridDim.x + blockIdx.x] = shared.counts[digit];
  }
}

// Where the first tuple of this block with each digit goes.
__device__ void find_places(const DemandArgs& args, Shared& shared) {
  const uint32_t digit = threadIdx.x;
  uint32_t place = digit < kDigits ? args.counts[kDigits * gridDim.x + digit] : 0;
  __syncthreads();
  Scan(shared.scan).ExclusiveSum(place, place);
  __syncthreads();
  if (digit < kDigits) {
    shared.next_places[digit] = place + args.counts[digit * gridDim.x + blockIdx.x];
  }
  __syncthreads();
}

// The ranks of a tile's items by digit. Items of a thread are 32 apart, as the ranking wants them.
__device__ void rank_items(uint32_t (&keys)[Tuning::kItems], int pass, int (&ranks)[Tuning::kItems],
                           Shared& shared) {
  const uint32_t digit = threadIdx.x;
  const auto keep_places = [&](const int(&counts)[1]) {
    if (digit < kDigits) {
      shared.places[digit] = shared.next_places[digit];
      shared.next_places[digit] += static_cast<uint32_t>(counts[0]);
    }
  };
  const cub::ShiftDigitExtractor<uint32_t> digits(static_cast<uint32_t>(pass * Tuning::kDigitBits),
                                                  Tuning::kDigitBits);
  int before[1];
  Rank(shared.rank).RankKeys(keys, ranks, digits, before, keep_places);
  if (digit < kDigits) {
    shared.places[digit] -= static_cast<uint32_t>(before[0]);
  }
}

// Moves a tile, in order: within shared memory by digit, so that neighbours go to neighbours.
__device__ void move_tile(const DemandArgs& args, int64_t tile, int count, int pass,
                          Shared& shared) {
  const auto first = static_cast<int>(threadIdx.x / 32 * 32 * Tuning::kItems + threadIdx.x % 32);
  uint32_t keys[Tuning::kItems], tuples[Tuning::kItems];
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    const int at = first + i * 32;
    keys[i] = at < count ? args.keys[pass % 2][tile + at] : UINT32_MAX;  // behind all others
    tuples[i] = at < count ? args.tuples[pass % 2][tile + at] : 0;
  }
  int ranks[Tuning::kItems];
  rank_items(keys, pass, ranks, shared);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    shared.items[ranks[i]] = {keys[i], tuples[i]};
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    const int at = static_cast<int>(threadIdx.x) + i * Tuning::kThreads;
    if (at < count) {
      const uint2 item = shared.items[at];
      const uint32_t to = shared.places[digit_of(item.x, pass)] + static_cast<uint32_t>(at);
      args.keys[(pass + 1) % 2][to] = item.x;
      args.tuples[(pass + 1) % 2][to] = item.y;
    }
  }
  __syncthreads();
}

__device__ void sort(const DemandArgs& args, const Range& range, Shared& shared) {
  const auto grid = cooperative_groups::this_grid();
  for (int pass = 0; pass < args.passes; ++pass) {
    count_digits(args, range, pass, shared);
    grid.sync();
    scan_blocks(args.counts, kDigits);
    grid.sync();
    find_places(args, shared);
    for (int64_t tile = range.begin; tile < range.end; tile += kTile) {
      move_tile(args, tile, static_cast<int>(min(kTile, range.end - tile)), pass, shared);
    }
    grid.sync();
  }
}

__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksEach)
    sort_on_demand_kernel(const __grid_constant__ DemandArgs args) {
  __shared__ Shared shared;
  ChainState& state = *args.chains.state;
  if (refused(args.check) || (state.crowded == 0 && state.has_long == 0)) {
    return;
  }
  const auto grid = cooperative_groups::this_grid();
  const Range all(args.key.tuples.points);
  make_keys(args, all, shared);
  grid.sync();
  const uint32_t left = bring_together(args, all, shared);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state.left = left;
  }
  grid.sync();
  sort(args, Range(left), shared);
  for (int64_t look = int64_t{blockIdx.x} * Tuning::kThreads + threadIdx.x;
       look * kLookStride < left; look += int64_t{gridDim.x} * Tuning::kThreads) {
    look_for_long<uint32_t>(args.sorted, left, args.key.skipped, look);
  }
}

unsigned demand_blocks() {
  return static_cast<unsigned>(Tuning::kBlocksEach * current_device().multiprocessors);
}

}  // namespace

SortLayout demand_layout(const ScatterNest& scatter, size_t taken) {
  return sort_layout(scatter, sizeof(uint32_t) * kDigits * (demand_blocks() + 1), taken);
}

SortedTuples launch_sort_on_demand(const ScatterNest& scatter, const ScatterCall& call,
                                   const Chains& chains, std::byte* workspace,
                                   const SortLayout& layout) {
  const auto numbers = [&](size_t at) { return reinterpret_cast<uint32_t*>(workspace + at); };
  const int bits = std::bit_width(static_cast<uint64_t>(scatter.key_count));
  DemandArgs args{.key = key_args(scatter, call),
                  .chains = chains,
                  .check = call.check,
                  .keys = {numbers(layout.keys[0]), numbers(layout.keys[1])},
                  .tuples = {numbers(layout.tuples[0]), numbers(layout.tuples[1])},
                  .counts = numbers(layout.sorting),
                  .passes = (bits - 1) / Tuning::kDigitBits + 1,
                  .sorted = {}};
  args.sorted = sorted_tuples(scatter, workspace, layout, args.passes % 2);
  args.sorted.count = &chains.state->left;
  launch_cooperative(sort_on_demand_kernel, args, demand_blocks(), Tuning::kThreads, 0,
                     call.stream);
  return args.sorted;
}

}  // namespace sheaf::cuda
