// SPDX-License-Identifier: MIT
//
// What both sorts of tuples have: the keys that are sorted by, and where the long lists are
// afterwards.
#pragma once

#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter.h"

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
  return scatter.tuple_count / kLongList + 1;
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

// A long list has two neighbouring places out of those that are kLookStride apart. Who looks at the
// first of them finds where the list begins and ends.
inline constexpr int64_t kLookStride = kLongList / 2;

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
  const LongList list{lower_bound(keys, max(before, int64_t{0}), at, uint64_t{key}),
                      lower_bound(keys, at + kLookStride, tuples, uint64_t{key} + 1)};
  const int64_t length = list.end - list.begin;
  if (length > kHugeList) {
    sorted.long_lists[atomicAdd(&sorted.long_state->huge, 1ULL)] = list;
  } else if (length > kLongList) {
    const auto slot = static_cast<int64_t>(atomicAdd(&sorted.long_state->others, 1ULL));
    sorted.long_lists[sorted.long_capacity - 1 - slot] = list;
  }
}

}  // namespace sheaf::cuda
