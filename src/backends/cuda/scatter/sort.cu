// SPDX-License-Identifier: MIT
//
// Tuples of indices, sorted by the cell they lead to: stable, over the bits that cells need.
#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/scatter/sort.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    key_kernel(const __grid_constant__ KeyArgs args, Number* keys, Number* numbers,
               LongLists* long_state) {
  const int64_t tuple = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (tuple == 0) {
    *long_state = {};
  }
  if (tuple < args.tuples.points) {
    keys[tuple] = static_cast<Number>(key_of(args, tuple));
    numbers[tuple] = static_cast<Number>(tuple);
  }
}

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    find_long_kernel(const SortedTuples sorted, int64_t tuples, uint64_t skipped) {
  look_for_long<Number>(sorted, tuples, skipped, int64_t{blockIdx.x} * kBlockThreads + threadIdx.x);
}

// With null memory: sets `bytes` to what it needs. The count has the type of the numbers: a count
// of 64 bits would select a slower sort.
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
  const KeyArgs args = key_args(scatter, call);
  auto* const long_state = reinterpret_cast<LongLists*>(workspace + layout.long_state);
  key_kernel<Number>
      <<<blocks_of(scatter.tuple_count, kBlockThreads), kBlockThreads, 0, call.stream>>>(
          args, keys.Current(), tuples.Current(), long_state);
  size_t bytes = layout.sorting_bytes;
  check_result(sort(workspace + layout.sorting, bytes, scatter, keys, tuples, call.stream),
               "starting a sort");
  SortedTuples lists = sorted_tuples(scatter, workspace, layout, 0);
  lists.keys = keys.Current();
  lists.tuples = tuples.Current();
  if (scatter.tuple_count > tuning::Lists::kLong && scatter.tuples.reduction != Reduction::kNone) {
    find_long_kernel<Number>
        <<<blocks_of(scatter.tuple_count / kLookStride, kBlockThreads), kBlockThreads, 0,
           call.stream>>>(lists, scatter.tuple_count, args.skipped);
  }
  return lists;
}

}  // namespace

SortLayout sort_layout(const ScatterNest& scatter, size_t sorting_bytes, size_t taken) {
  SortLayout layout{};
  layout.bytes = taken;
  const size_t list = (scatter.wide() ? 8U : 4U) * static_cast<size_t>(scatter.tuple_count);
  for (int i = 0; i < 2; ++i) {
    layout.keys[i] = take(layout.bytes, list);
    layout.tuples[i] = take(layout.bytes, list);
  }
  layout.long_lists =
      take(layout.bytes, sizeof(LongList) * static_cast<size_t>(long_capacity(scatter)));
  layout.long_state = take(layout.bytes, sizeof(LongLists));
  layout.sorting_bytes = sorting_bytes;
  layout.sorting = take(layout.bytes, sorting_bytes);
  return layout;
}

SortLayout sort_layout(const ScatterNest& scatter) {
  return sort_layout(scatter, counts_cells(scatter) ? counting_bytes(scatter)
                              : scatter.wide()      ? bytes_of<uint64_t>(scatter)
                                                    : bytes_of<uint32_t>(scatter));
}

SortedTuples sorted_tuples(const ScatterNest& scatter, std::byte* workspace,
                           const SortLayout& layout, int which) {
  return {.keys = workspace + layout.keys[which],
          .tuples = workspace + layout.tuples[which],
          .long_lists = reinterpret_cast<LongList*>(workspace + layout.long_lists),
          .long_capacity = long_capacity(scatter),
          .long_state = reinterpret_cast<LongLists*>(workspace + layout.long_state),
          .wide = scatter.wide()};
}

SortedTuples launch_sort(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                         const SortLayout& layout) {
  if (counts_cells(scatter)) {
    const SortedTuples lists = sorted_tuples(scatter, workspace, layout, 1);
    launch_counting_sort(scatter, call, reinterpret_cast<uint32_t*>(workspace + layout.keys[0]),
                         workspace + layout.sorting, lists);
    return lists;
  }
  return scatter.wide() ? sorted<uint64_t>(scatter, call, workspace, layout)
                        : sorted<uint32_t>(scatter, call, workspace, layout);
}

}  // namespace sheaf::cuda
