// SPDX-License-Identifier: MIT
//
// The order of a mixture of experts, in three launches. Every warp has a range of the choices, one
// after the other. The first launch copies the experts, so that each is read once, and counts those
// of each block; the second turns counts into places; in the third every warp counts again, from
// the copy, while the second runs, and writes its choices in order.
#include <algorithm>

#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/moe/moe.h"
#include "backends/cuda/tuning.h"
#include "support/divisor.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Moe;
constexpr int kWarps = Tuning::kThreads / kWarp;
constexpr uint32_t kNoExpert = UINT32_MAX;

struct RouteArgs {
  MoeNest nest;
  MoeBuffers buffers;
  Verdict* verdict;
  uint32_t* expert_of;  // of each choice; kNoExpert: it is bad
  uint32_t* counts;     // of each expert in each block, expert by expert; then those before it
  Divisor choices;
  int64_t each;    // choices of a warp, a multiple of its lanes
  int64_t blocks;  // of the first launch and the third
};

// A lane, and its warp's range of the choices and part of the block's counts.
struct Member {
  int lane;
  int64_t begin, end;
  uint32_t* counts;

  __device__ Member(const RouteArgs& args, uint32_t* shared)
      : lane(static_cast<int>(threadIdx.x) % kWarp) {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    begin = min((int64_t{blockIdx.x} * kWarps + warp) * args.each, args.nest.count);
    end = min(begin + args.each, args.nest.count);
    counts = shared + warp * args.nest.experts;
  }

  // Calls f(choice, expert, lanes before this one with the same expert, how many have it) for all
  // choices of the warp, 32 at a time. All lanes call f; those without a choice have kNoExpert.
  template <class Load, class F>
  __device__ void for_each(Load load, F f) const {
    for (int64_t first = begin; first < end; first += Tuning::kInFlight * kWarp) {
      uint32_t experts[Tuning::kInFlight];
#pragma unroll
      for (int i = 0; i < Tuning::kInFlight; ++i) {
        const int64_t choice = first + i * kWarp + lane;
        experts[i] = choice < end ? load(choice) : kNoExpert;
      }
#pragma unroll
      for (int i = 0; i < Tuning::kInFlight; ++i) {
        const unsigned same = __match_any_sync(~0U, experts[i]);
        f(first + i * kWarp + lane, experts[i],
          static_cast<uint32_t>(__popc(same & ((1U << lane) - 1))),
          static_cast<uint32_t>(__popc(same)));
        __syncwarp();
      }
    }
  }
};

__device__ uint32_t load_expert(const RouteArgs& args, int64_t choice) {
  const MoeNest& nest = args.nest;
  const uint32_t token = args.choices.quotient(static_cast<uint32_t>(choice));
  const int64_t at = token * nest.outer + (choice - int64_t{token} * nest.choices) * nest.inner;
  const int64_t expert =
      load_raw<Indices::kAnyType>(nest.index_type.kind(), args.buffers.experts, at);
  if (static_cast<uint64_t>(expert) < static_cast<uint64_t>(nest.experts)) {
    return static_cast<uint32_t>(expert);
  }
  args.verdict->met = 1;
  return kNoExpert;
}

// Counts of this warp's choices by expert.
template <class Load>
__device__ void count_choices(const RouteArgs& args, const Member& member, uint32_t* shared,
                              Load load) {
  for (int64_t i = threadIdx.x; i < kWarps * args.nest.experts; i += Tuning::kThreads) {
    shared[i] = 0;
  }
  __syncthreads();
  member.for_each(load, [&](int64_t, uint32_t expert, uint32_t before, uint32_t count) {
    if (expert != kNoExpert && before == 0) {
      member.counts[expert] += count;
    }
  });
  __syncthreads();
}

__global__ void __launch_bounds__(Tuning::kThreads)
    moe_count_kernel(const __grid_constant__ RouteArgs args) {
  extern __shared__ uint32_t moe_shared[];
  let_next_launch_begin();
  if (refused(args.verdict)) {
    return;
  }
  const Member member(args, moe_shared);
  count_choices(args, member, moe_shared, [&](int64_t choice) {
    const uint32_t expert = load_expert(args, choice);
    args.expert_of[choice] = expert;
    return expert;
  });
  for (int64_t expert = threadIdx.x; expert < args.nest.experts; expert += Tuning::kThreads) {
    uint32_t sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      sum += moe_shared[warp * args.nest.experts + expert];
    }
    args.counts[expert * args.blocks + blockIdx.x] = sum;
  }
}

// The sum of what a thread of a warp has and those before it have.
template <class T>
__device__ T sum_in_warp(T sum, int lane) {
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T below = __shfl_up_sync(~0U, sum, static_cast<unsigned>(step));
    sum += lane >= step ? below : 0;
  }
  return sum;
}

// By one warp: the counts of a few experts become those of the blocks before. All are read before
// the first is written: the way to memory is what takes time here.
__device__ void scan_blocks(const RouteArgs& args, int64_t first, int64_t* ends, int lane) {
  constexpr int kReads = int{Tuning::kMostBlocks} / kWarp;
  uint32_t counts[Tuning::kScanExperts][kReads];
#pragma unroll
  for (int e = 0; e < Tuning::kScanExperts; ++e) {
#pragma unroll
    for (int i = 0; i < kReads; ++i) {
      const int64_t block = i * kWarp + lane;
      counts[e][i] = first + e < args.nest.experts && block < args.blocks
                         ? args.counts[(first + e) * args.blocks + block]
                         : 0;
    }
  }
#pragma unroll
  for (int e = 0; e < Tuning::kScanExperts; ++e) {
    uint32_t before = 0;
#pragma unroll
    for (int i = 0; i < kReads; ++i) {
      const int64_t block = i * kWarp + lane;
      const uint32_t sum = sum_in_warp(counts[e][i], lane);
      if (first + e < args.nest.experts && block < args.blocks) {
        args.counts[(first + e) * args.blocks + block] = before + sum - counts[e][i];
      }
      before += __shfl_sync(~0U, sum, kWarp - 1);
    }
    if (lane == 0 && first + e < args.nest.experts) {
      ends[first + e] = min(int64_t{before}, args.nest.capacity);
    }
  }
}

// The sum of what the threads before this one have. By all threads of the block.
__device__ int64_t sum_before(int64_t mine, int64_t* warps, int lane) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int64_t sum = sum_in_warp(mine, lane);
  if (lane == kWarp - 1) {
    warps[warp] = sum;
  }
  __syncthreads();
  if (warp == 0) {
    warps[lane] = sum_in_warp(warps[lane], lane);
  }
  __syncthreads();
  return sum - mine + (warp > 0 ? warps[warp - 1] : 0);
}

// One block: a warp for a few experts at a time, then a thread for experts that follow one another.
__global__ void __launch_bounds__(Tuning::kScanThreads)
    moe_scan_kernel(const __grid_constant__ RouteArgs args) {
  static_assert(Tuning::kScanThreads == kWarp * kWarp);
  __shared__ int64_t warps[kWarp];
  wait_for_launch_before();
  let_next_launch_begin();  // the counts are there, and the copy of the experts
  if (refused(args.verdict)) {
    return;
  }
  const int64_t experts = args.nest.experts;
  int64_t* const ends = args.buffers.offsets + 1;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t expert = int64_t{threadIdx.x / kWarp} * Tuning::kScanExperts; expert < experts;
       expert += kWarp * Tuning::kScanExperts) {
    scan_blocks(args, expert, ends, lane);
  }
  __syncthreads();
  const int64_t own = (experts + Tuning::kScanThreads - 1) / Tuning::kScanThreads;
  const int64_t first = min(int64_t{threadIdx.x} * own, experts);
  const int64_t last = min(first + own, experts);
  int64_t rows = 0;
  for (int64_t expert = first; expert < last; ++expert) {
    rows += ends[expert];
  }
  int64_t end = sum_before(rows, warps, lane);
  for (int64_t expert = first; expert < last; ++expert) {
    end += ends[expert];
    ends[expert] = end;
  }
  if (threadIdx.x == 0) {
    args.buffers.offsets[0] = 0;
  }
}

__device__ void place_choice(const RouteArgs& args, int64_t choice, uint32_t expert,
                             uint32_t place) {
  const bool kept = expert != kNoExpert && place < args.nest.capacity;
  const int64_t row = kept ? args.buffers.offsets[expert] + place : -1;
  args.buffers.inverse[choice] = row;
  if (kept && args.buffers.sources != nullptr) {
    args.buffers.sources[row] = args.choices.quotient(static_cast<uint32_t>(choice));
  }
}

__global__ void __launch_bounds__(Tuning::kThreads)
    moe_place_kernel(const __grid_constant__ RouteArgs args) {
  extern __shared__ uint32_t moe_shared[];
  let_next_launch_begin();
  if (refused(args.verdict)) {
    return wait_for_launch_before();  // it does not end before the launch before it
  }
  const Member member(args, moe_shared);
  const auto load = [&](int64_t choice) { return args.expert_of[choice]; };
  count_choices(args, member, moe_shared, load);
  wait_for_launch_before();
  for (int64_t expert = threadIdx.x; expert < args.nest.experts; expert += Tuning::kThreads) {
    uint32_t before = args.counts[expert * args.blocks + blockIdx.x];
    for (int warp = 0; warp < kWarps; ++warp) {
      uint32_t& count = moe_shared[warp * args.nest.experts + expert];
      const uint32_t here = count;
      count = before;
      before += here;
    }
  }
  __syncthreads();
  member.for_each(load, [&](int64_t choice, uint32_t expert, uint32_t before, uint32_t count) {
    const uint32_t place = expert != kNoExpert ? member.counts[expert] + before : 0;
    __syncwarp();
    if (choice < member.end) {
      place_choice(args, choice, expert, place);
    }
    if (expert != kNoExpert && before == 0) {
      member.counts[expert] += count;
    }
  });
}

int64_t blocks_for(const MoeNest& nest) {
  const int64_t wanted = (nest.count - 1) / (kWarps * Tuning::kChoicesOfWarp) + 1;
  return std::min<int64_t>(wanted, Tuning::kMostBlocks);
}

size_t aligned_words(int64_t count) {
  return (static_cast<size_t>(count) * sizeof(uint32_t) + 255) / 256 * 256;
}

}  // namespace

const char* moe_refusal(const MoeNest& nest) {
  if (nest.count >= kSmallPoints) {
    return "2^31 choices or more";
  }
  return nest.experts > Tuning::kMostExperts ? "more experts than shared memory can count"
                                             : nullptr;
}

size_t moe_bytes(const MoeNest& nest) {
  return nest.count == 0
             ? 0
             : aligned_words(nest.count) + aligned_words(nest.experts * blocks_for(nest));
}

void run_moe(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch) {
  const auto stream = static_cast<Stream>(launch.stream);
  if (nest.count == 0) {
    zero(buffers.offsets, static_cast<size_t>(nest.experts + 1) * sizeof(int64_t), stream);
    return;
  }
  const int64_t blocks = blocks_for(nest);
  const int64_t warps = blocks * kWarps;
  RouteArgs args{nest, buffers, launch.verdict};
  args.expert_of = reinterpret_cast<uint32_t*>(launch.workspace);
  args.counts = reinterpret_cast<uint32_t*>(launch.workspace + aligned_words(nest.count));
  args.choices = Divisor(static_cast<uint32_t>(nest.choices));
  args.each = ((nest.count - 1) / warps / kWarp + 1) * kWarp;
  args.blocks = blocks;
  const auto grid = static_cast<unsigned>(blocks);
  const auto shared = static_cast<int>(kWarps * nest.experts * int64_t{sizeof(uint32_t)});
  cudaFuncSetAttribute(moe_count_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  cudaFuncSetAttribute(moe_place_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  const auto shared_bytes = static_cast<size_t>(shared);
  moe_count_kernel<<<grid, Tuning::kThreads, shared_bytes, stream>>>(args);
  launch_early(moe_scan_kernel, args, 1, Tuning::kScanThreads,
               waits_for_launch_before(moe_scan_kernel), stream);
  launch_early(moe_place_kernel, args, grid, Tuning::kThreads,
               waits_for_launch_before(moe_place_kernel), stream, shared_bytes);
  if (buffers.tokens != nullptr) {
    launch_spread(nest, buffers, launch);
  }
}

}  // namespace sheaf::cuda
