// SPDX-License-Identifier: MIT
//
// A counting sort of tuples by cell, for few cells and not too many tuples: one launch, which is
// stable and finds the long lists as well. Every warp has a range of the tuples. Warps count their
// tuples by cell, the counts become places, and warps move their tuples there in order.
#include <cooperative_groups.h>

#include <cub/block/block_scan.cuh>

#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/scatter/sort.cuh"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::CountingSort;
constexpr int kWarps = Tuning::kThreads / kWarp;
constexpr uint32_t kNoKey = UINT32_MAX;
using Scan = cub::BlockScan<uint32_t, Tuning::kThreads>;

struct CountingArgs {
  KeyArgs key;
  uint32_t keys;  // how many: of cells, and that of skipped tuples
  uint32_t* key_of_tuple;
  uint32_t* counts;  // by key and block; behind them by key
  SortedTuples sorted;
};

// A lane, its warp's range of the tuples, and its warp's part of the block's shared memory.
struct Member {
  int lane;
  int64_t begin, end;
  uint32_t* counts;  // by key; then places

  __device__ Member(const CountingArgs& args, uint32_t* shared)
      : lane(static_cast<int>(threadIdx.x) % kWarp) {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int64_t tuples = args.key.tuples.points;
    const int64_t warps = int64_t{gridDim.x} * kWarps;
    const int64_t own = ((tuples - 1) / warps / kWarp + 1) * kWarp;
    begin = min((int64_t{blockIdx.x} * kWarps + warp) * own, tuples);
    end = min(begin + own, tuples);
    counts = shared + warp * args.keys;
  }

  // Calls f(tuple, key, lanes with this key) for the tuples of the range, 32 at a time and in
  // order. All lanes call f; those without a tuple have kNoKey.
  template <class Load, class F>
  __device__ void for_each(Load key_of, F f) const {
    for (int64_t first = begin; first < end; first += Tuning::kInFlight * kWarp) {
      uint32_t keys[Tuning::kInFlight];
#pragma unroll
      for (int i = 0; i < Tuning::kInFlight; ++i) {
        const int64_t tuple = first + i * kWarp + lane;
        keys[i] = tuple < end ? key_of(tuple) : kNoKey;
      }
#pragma unroll
      for (int i = 0; i < Tuning::kInFlight; ++i) {
        f(first + i * kWarp + lane, keys[i], __match_any_sync(~0U, keys[i]));
        __syncwarp();
      }
    }
  }
  __device__ uint32_t lanes_before(unsigned lanes) const {
    return static_cast<uint32_t>(__popc(lanes & ((1U << lane) - 1)));
  }
};

// Counts by key of a block's warps become how many the warps before have; their sums are written.
__device__ void count_tuples(const CountingArgs& args, const Member& member, uint32_t* shared) {
  for (uint32_t i = threadIdx.x; i < kWarps * args.keys; i += Tuning::kThreads) {
    shared[i] = 0;
  }
  __syncthreads();
  member.for_each([&](int64_t tuple) { return static_cast<uint32_t>(key_of(args.key, tuple)); },
                  [&](int64_t tuple, uint32_t key, unsigned same) {
                    if (key != kNoKey) {
                      args.key_of_tuple[tuple] = key;
                      if (member.lanes_before(same) == 0) {
                        member.counts[key] += static_cast<uint32_t>(__popc(same));
                      }
                    }
                  });
  __syncthreads();
  for (uint32_t key = threadIdx.x; key < args.keys; key += Tuning::kThreads) {
    uint32_t sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      uint32_t& count = shared[warp * args.keys + key];
      sum += count;
      count = sum - count;
    }
    args.counts[key * gridDim.x + blockIdx.x] = sum;
  }
}

// Where each warp's first tuple with each key goes. The first block notes long lists.
__device__ void find_places(const CountingArgs& args, uint32_t* shared) {
  __shared__ Scan::TempStorage scan;
  const uint32_t* const sums = args.counts + args.keys * gridDim.x;
  const uint32_t own = (args.keys - 1) / Tuning::kThreads + 1;
  const uint32_t first = min(threadIdx.x * own, args.keys);
  const uint32_t last = min(first + own, args.keys);
  uint32_t place = 0;
  for (uint32_t key = first; key < last; ++key) {
    place += sums[key];
  }
  Scan(scan).ExclusiveSum(place, place);
  for (uint32_t key = first; key < last; ++key) {
    const uint32_t in_block = place + args.counts[key * gridDim.x + blockIdx.x];
    for (int warp = 0; warp < kWarps; ++warp) {
      shared[warp * args.keys + key] += in_block;
    }
    if (blockIdx.x == 0 && key != args.key.skipped) {
      note_if_long(args.sorted, {place, int64_t{place} + sums[key]});
    }
    place += sums[key];
  }
  __syncthreads();
}

__device__ void move_tuples(const CountingArgs& args, const Member& member) {
  // The sort writes what kernels after it only read.
  auto* const keys = static_cast<uint32_t*>(const_cast<void*>(args.sorted.keys));
  auto* const tuples = static_cast<uint32_t*>(const_cast<void*>(args.sorted.tuples));
  member.for_each([&](int64_t tuple) { return args.key_of_tuple[tuple]; },
                  [&](int64_t tuple, uint32_t key, unsigned same) {
                    const uint32_t place = key != kNoKey ? member.counts[key] : 0;
                    __syncwarp();
                    if (key != kNoKey) {
                      const uint32_t before = member.lanes_before(same);
                      keys[place + before] = key;
                      tuples[place + before] = static_cast<uint32_t>(tuple);
                      if (before == 0) {
                        member.counts[key] = place + static_cast<uint32_t>(__popc(same));
                      }
                    }
                  });
}

__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocksEach)
    counting_sort_kernel(const __grid_constant__ CountingArgs args) {
  extern __shared__ uint32_t counts_of_block[];
  const auto grid = cooperative_groups::this_grid();
  const Member member(args, counts_of_block);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *args.sorted.long_state = {};
  }
  count_tuples(args, member, counts_of_block);
  grid.sync();
  scan_blocks(args.counts, args.keys);
  grid.sync();
  find_places(args, counts_of_block);
  move_tuples(args, member);
}

unsigned most_blocks() {
  return static_cast<unsigned>(Tuning::kBlocksEach * current_device().multiprocessors);
}

}  // namespace

bool counts_cells(const ScatterNest& scatter) {
  return scatter.key_count < Tuning::kMostCells && scatter.tuple_count >= Tuning::kLeastTuples &&
         scatter.tuple_count <= Tuning::kMostTuples;
}

size_t counting_bytes(const ScatterNest& scatter) {
  return sizeof(uint32_t) * static_cast<size_t>(scatter.key_count + 1) * (most_blocks() + 1);
}

void launch_counting_sort(const ScatterNest& scatter, const ScatterCall& call, uint32_t* keys,
                          std::byte* memory, const SortedTuples& sorted) {
  const CountingArgs args{.key = key_args(scatter, call),
                          .keys = static_cast<uint32_t>(scatter.key_count + 1),
                          .key_of_tuple = keys,
                          .counts = reinterpret_cast<uint32_t*>(memory),
                          .sorted = sorted};
  const size_t bytes = sizeof(uint32_t) * kWarps * args.keys;
  // The same for every call: concurrent launches must not lower each other's limit.
  cudaFuncSetAttribute(counting_sort_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(sizeof(uint32_t) * kWarps * Tuning::kMostCells));
  launch_cooperative(counting_sort_kernel, args, most_blocks(), Tuning::kThreads, bytes,
                     call.stream);
}

}  // namespace sheaf::cuda
