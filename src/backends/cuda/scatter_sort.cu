// SPDX-License-Identifier: MIT
//
// Tuples of indices, sorted by the cell they lead to: stable, and by as many bits as cells need.
#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter.h"

namespace sheaf::cuda {
namespace {

constexpr int kThreads = 256;

struct KeyArgs {
  AnyNest tuples;
  const std::byte* indices;
  int64_t lowest;
  WideDivisor unit;
  uint64_t skipped;  // the key of skipped tuples
  LongLists* long_state;
};

template <class Number>
__global__ void __launch_bounds__(kThreads)
    key_kernel(const __grid_constant__ KeyArgs args, Number* keys, Number* numbers) {
  const int64_t tuple = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (tuple == 0) {
    *args.long_state = {};
  }
  if (tuple >= args.tuples.points) {
    return;
  }
  const int64_t at = target_of(args.tuples, args.indices, tuple, locate(args.tuples, tuple));
  keys[tuple] = static_cast<Number>(
      at == kNowhere ? args.skipped : args.unit.quotient(static_cast<uint64_t>(at - args.lowest)));
  numbers[tuple] = static_cast<Number>(tuple);
}

int64_t long_capacity(const ScatterNest& scatter) { return scatter.tuple_count / kLongList + 1; }

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

// A long list has two neighbouring places out of those that are kStride apart. The thread of the
// first such place looks where the list begins and ends.
template <class Number>
__global__ void __launch_bounds__(kThreads)
    find_long_kernel(const SortedTuples sorted, int64_t tuples, uint64_t skipped,
                     LongList* long_lists) {
  constexpr int64_t kStride = kLongList / 2;
  const int64_t at = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kStride;
  if (at + kStride >= tuples) {
    return;
  }
  const auto* const keys = static_cast<const Number*>(sorted.keys);
  const Number key = keys[at];
  const int64_t before = at - kStride;
  if (key != keys[at + kStride] || key == skipped || (before >= 0 && keys[before] == key)) {
    return;
  }
  const LongList list{lower_bound(keys, max(before, int64_t{0}), at, uint64_t{key}),
                      lower_bound(keys, at + kStride, tuples, uint64_t{key} + 1)};
  const int64_t length = list.end - list.begin;
  if (length > kHugeList) {
    long_lists[atomicAdd(&sorted.long_state->huge, 1ULL)] = list;
  } else if (length > kLongList) {
    const auto slot = static_cast<int64_t>(atomicAdd(&sorted.long_state->others, 1ULL));
    long_lists[sorted.long_capacity - 1 - slot] = list;
  }
}

// With null memory: sets `bytes` to how many it needs. The count has the type of the numbers: with
// one of 64 bits the sort would be another, and slower.
template <class Number>
cudaError_t sort(void* memory, size_t& bytes, const ScatterNest& scatter,
                 cub::DoubleBuffer<Number>& keys, cub::DoubleBuffer<Number>& tuples,
                 Stream stream) {
  return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, tuples,
                                         static_cast<Number>(scatter.tuple_count), 0,
                                         scatter.key_bits(), stream);
}

template <class Number>
size_t bytes_of(const ScatterNest& scatter) {
  cub::DoubleBuffer<Number> keys(nullptr, nullptr), tuples(nullptr, nullptr);
  size_t bytes = 0;
  check_result(sort(nullptr, bytes, scatter, keys, tuples, nullptr), "sizing a sort");
  return bytes;
}

template <class Number>
SortedTuples sorted(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                    const SortLayout& layout) {
  const auto at = [&](size_t offset) { return reinterpret_cast<Number*>(workspace + offset); };
  cub::DoubleBuffer<Number> keys(at(layout.keys[0]), at(layout.keys[1]));
  cub::DoubleBuffer<Number> tuples(at(layout.tuples[0]), at(layout.tuples[1]));
  const KeyArgs args{device_nest<AnyNest>(scatter.tuples),
                     call.indices,
                     scatter.lowest,
                     WideDivisor(static_cast<uint64_t>(scatter.unit)),
                     static_cast<uint64_t>(scatter.key_count),
                     reinterpret_cast<LongLists*>(workspace + layout.long_state)};
  key_kernel<Number><<<blocks_of(scatter.tuple_count, kThreads), kThreads, 0, call.stream>>>(
      args, keys.Current(), tuples.Current());
  size_t bytes = layout.sorting_bytes;
  check_result(sort(workspace + layout.sorting, bytes, scatter, keys, tuples, call.stream),
               "starting a sort");
  auto* const long_lists = reinterpret_cast<LongList*>(workspace + layout.long_lists);
  const SortedTuples lists{keys.Current(),         tuples.Current(), long_lists,
                           long_capacity(scatter), args.long_state,  scatter.wide()};
  if (scatter.tuple_count > kLongList && scatter.tuples.reduction != Reduction::kNone) {
    const unsigned blocks = blocks_of(scatter.tuple_count / (kLongList / 2), kThreads);
    find_long_kernel<Number><<<blocks, kThreads, 0, call.stream>>>(lists, scatter.tuple_count,
                                                                   args.skipped, long_lists);
  }
  return lists;
}

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

SortLayout sort_layout(const ScatterNest& scatter) {
  SortLayout layout{};
  const auto take = [&](size_t bytes) {
    const size_t at = layout.bytes;
    layout.bytes += aligned(bytes);
    return at;
  };
  const size_t list = (scatter.wide() ? 8U : 4U) * static_cast<size_t>(scatter.tuple_count);
  for (int i = 0; i < 2; ++i) {
    layout.keys[i] = take(list);
    layout.tuples[i] = take(list);
  }
  layout.long_lists = take(sizeof(LongList) * static_cast<size_t>(long_capacity(scatter)));
  layout.long_state = take(sizeof(LongLists));
  layout.sorting_bytes = scatter.wide() ? bytes_of<uint64_t>(scatter) : bytes_of<uint32_t>(scatter);
  layout.sorting = take(layout.sorting_bytes);
  return layout;
}

SortedTuples launch_sort(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                         const SortLayout& layout) {
  return scatter.wide() ? sorted<uint64_t>(scatter, call, workspace, layout)
                        : sorted<uint32_t>(scatter, call, workspace, layout);
}

}  // namespace sheaf::cuda
