// SPDX-License-Identifier: MIT
//
// What both sorts of tuples share: the keys, and the search for long lists afterwards.
#pragma once

#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

struct KeyArgs {
  AnyNest tuples;
  const std::byte* indices;
  int64_t lowest;
  WideDivisor unit;
  uint64_t skipped;  // the key of skipped tuples
};

inline KeyArgs key_args(const ScatterNest& scatter, const ScatterCall& call) {
  return {device_nest<AnyNest>(scatter.tuples), call.indices, scatter.lowest,
          WideDivisor(static_cast<uint64_t>(scatter.unit)),
          static_cast<uint64_t>(scatter.key_count)};
}

// The number of the cell that a tuple leads to.
__device__ inline uint64_t key_of(const KeyArgs& args, int64_t tuple) {
  const int64_t at = target_of(args.tuples, args.indices, tuple, locate(args.tuples, tuple));
  return at == kNowhere ? args.skipped
                        : args.unit.quotient(static_cast<uint64_t>(at - args.lowest));
}

inline int64_t long_capacity(const ScatterNest& scatter) {
  return scatter.tuple_count / tuning::Lists::kLong + 1;
}

// The first place in [begin, end) whose key is not below `key`; `end` if there is none.
template <class Number>
__device__ int64_t lower_bound(const Number* keys, int64_t begin, int64_t end, uint64_t key) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (keys[middle] < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

__device__ inline void note_if_long(const SortedTuples& sorted, const LongList& list) {
  const int64_t length = list.end - list.begin;
  if (length > tuning::Lists::kHuge) {
    sorted.long_lists[atomicAdd(&sorted.long_state->huge, 1ULL)] = list;
  } else if (length > tuning::Lists::kLong) {
    const auto slot = static_cast<int64_t>(atomicAdd(&sorted.long_state->others, 1ULL));
    sorted.long_lists[sorted.long_capacity - 1 - slot] = list;
  }
}

// A long list covers two neighbouring multiples of kLookStride. The thread at the first of them
// finds where the list begins and ends.
inline constexpr int64_t kLookStride = tuning::Lists::kLong / 2;

template <class Number>
__device__ void look_for_long(const SortedTuples& sorted, int64_t tuples, uint64_t skipped,
                              int64_t look) {
  const int64_t at = look * kLookStride;
  if (at + kLookStride >= tuples) {
    return;
  }
  const auto* const keys = static_cast<const Number*>(sorted.keys);
  const Number key = keys[at];
  const int64_t before = at - kLookStride;
  if (key != keys[at + kLookStride] || key == skipped || (before >= 0 && keys[before] == key)) {
    return;
  }
  note_if_long(sorted, {lower_bound(keys, max(before, int64_t{0}), at, uint64_t{key}),
                        lower_bound(keys, at + kLookStride, tuples, uint64_t{key} + 1)});
}

// By all blocks: `counts`, by key and block, become how many of the key the blocks before have; the
// sums by key go behind them. One warp per key.
__device__ inline void scan_blocks(uint32_t* counts, uint32_t keys) {
  const uint32_t lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  for (uint32_t key = blockIdx.x * warps + threadIdx.x / kWarp; key < keys;
       key += gridDim.x * warps) {
    uint32_t before = 0;
    for (uint32_t first = 0; first < gridDim.x; first += kWarp) {
      const uint32_t block = first + lane;
      uint32_t* const at = counts + key * gridDim.x + block;
      const uint32_t count = block < gridDim.x ? *at : 0;
      uint32_t sum = count;
#pragma unroll
      for (uint32_t apart = 1; apart < kWarp; apart *= 2) {
        const uint32_t other = __shfl_up_sync(~0U, sum, apart);
        sum += lane >= apart ? other : 0;
      }
      if (block < gridDim.x) {
        *at = before + sum - count;
      }
      before += __shfl_sync(~0U, sum, kWarp - 1);
    }
    if (lane == 0) {
      counts[keys * gridDim.x + key] = before;
    }
  }
}

}  // namespace sheaf::cuda
