// SPDX-License-Identifier: MIT
//
// Tuples of indices, sorted by the cell they lead to: stable, and by as many bits as cells need.
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

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

// Whether a place in the sorted list is the first of its key.
template <class Number>
struct IsHead {
  const Number* keys;
  __device__ bool operator()(Number at) const { return at == 0 || keys[at] != keys[at - 1]; }
};

int64_t long_capacity(const ScatterNest& scatter) { return scatter.tuple_count / kLongList + 1; }

template <class Number>
__global__ void __launch_bounds__(kThreads)
    find_long_kernel(const SortedTuples sorted, int64_t tuples, uint64_t skipped,
                     unsigned long long* long_lists) {
  const auto lists = static_cast<int64_t>(*sorted.head_count);
  const int64_t list = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (list >= lists) {
    return;
  }
  const auto* const heads = static_cast<const Number*>(sorted.heads);
  const auto begin = static_cast<int64_t>(heads[list]);
  const int64_t length =
      (list + 1 < lists ? static_cast<int64_t>(heads[list + 1]) : tuples) - begin;
  if (length <= kLongList || static_cast<const Number*>(sorted.keys)[begin] == skipped) {
    return;
  }
  if (length > kHugeList) {
    long_lists[atomicAdd(&sorted.long_state->huge, 1ULL)] = static_cast<unsigned long long>(list);
  } else {
    const auto slot = static_cast<int64_t>(atomicAdd(&sorted.long_state->others, 1ULL));
    long_lists[sorted.long_capacity - 1 - slot] = static_cast<unsigned long long>(list);
  }
}

template <class Number>
struct Sorting {
  const ScatterNest& scatter;
  cub::DoubleBuffer<Number> keys, tuples;
  Number* heads;
  unsigned long long* head_count;

  // With null memory: sets `bytes` to how many it needs.
  cudaError_t sort(void* memory, size_t& bytes, Stream stream) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, tuples, scatter.tuple_count, 0,
                                           scatter.key_bits(), stream);
  }
  cudaError_t find_heads(void* memory, size_t& bytes, Stream stream) {
    return cub::DeviceSelect::If(memory, bytes, thrust::counting_iterator<Number>(0), heads,
                                 head_count, scatter.tuple_count, IsHead<Number>{keys.Current()},
                                 stream);
  }
};

template <class Number>
size_t bytes_of(const ScatterNest& scatter) {
  Sorting<Number> sorting{scatter, {nullptr, nullptr}, {nullptr, nullptr}, nullptr, nullptr};
  size_t sort = 0, select = 0;
  check_result(sorting.sort(nullptr, sort, nullptr), "sizing a sort");
  check_result(sorting.find_heads(nullptr, select, nullptr), "sizing a sort");
  return std::max(sort, select);
}

template <class Number>
SortedTuples sorted(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                    const SortLayout& layout) {
  const auto at = [&](size_t offset) { return reinterpret_cast<Number*>(workspace + offset); };
  Sorting<Number> sorting{scatter,
                          {at(layout.keys[0]), at(layout.keys[1])},
                          {at(layout.tuples[0]), at(layout.tuples[1])},
                          at(layout.heads),
                          reinterpret_cast<unsigned long long*>(workspace + layout.head_count)};
  const KeyArgs args{device_nest<AnyNest>(scatter.tuples),
                     call.indices,
                     scatter.lowest,
                     WideDivisor(static_cast<uint64_t>(scatter.unit)),
                     static_cast<uint64_t>(scatter.key_count),
                     reinterpret_cast<LongLists*>(workspace + layout.long_state)};
  const unsigned blocks = blocks_of(scatter.tuple_count, kThreads);
  key_kernel<Number><<<blocks, kThreads, 0, call.stream>>>(args, sorting.keys.Current(),
                                                           sorting.tuples.Current());
  size_t bytes = layout.sorting_bytes;
  check_result(sorting.sort(workspace + layout.sorting, bytes, call.stream), "starting a sort");
  bytes = layout.sorting_bytes;
  check_result(sorting.find_heads(workspace + layout.sorting, bytes, call.stream),
               "starting a sort");
  auto* const long_lists = reinterpret_cast<unsigned long long*>(workspace + layout.long_lists);
  const SortedTuples lists{sorting.keys.Current(),
                           sorting.tuples.Current(),
                           sorting.heads,
                           sorting.head_count,
                           long_lists,
                           long_capacity(scatter),
                           args.long_state,
                           scatter.wide()};
  if (scatter.tuple_count > kLongList && scatter.tuples.reduction != Reduction::kNone) {
    const int64_t most = std::min(scatter.tuple_count, scatter.key_count + 1);
    find_long_kernel<Number><<<blocks_of(most, kThreads), kThreads, 0, call.stream>>>(
        lists, scatter.tuple_count, args.skipped, long_lists);
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
  layout.heads = take(list);
  layout.head_count = take(8);
  layout.long_lists = take(8 * static_cast<size_t>(long_capacity(scatter)));
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
