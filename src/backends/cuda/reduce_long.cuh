// SPDX-License-Identifier: MIT
//
// Long lists of updates, reduced in order. The order is that of the updates, so the limit is one
// dependent operation per update, not one memory access: producer warps bring updates to a ring in
// shared memory (long_updates.cuh), and one consumer warp reduces them from there, one element of
// the cell per lane. Groups of elements of a cell are independent and go to different blocks.
#pragma once

#include "backends/cuda/long_updates.cuh"

namespace sheaf::cuda {

// Packs that the consumer loads ahead of the chain of operations.
template <Reduction kReduction, class T>
inline constexpr int kPacksAhead =
    !Accumulator<kReduction, T>::kFast
        ? 2
        : std::min<int>(16, 64 / int{sizeof(T)}) / StageLayout<T>::kPack;

// Reduces one element of `count` updates of a stage.
template <Reduction kReduction, class T>
__device__ void consume(const std::byte* updates, int count, Accumulator<kReduction, T>& value) {
  using Layout = StageLayout<T>;
  using Pack = Elements<T, Layout::kPack>;
  constexpr int kAhead = kPacksAhead<kReduction, T>;
  constexpr int kStep = kAhead * Layout::kPack;
  const auto pack = [&](int first) {
    return *reinterpret_cast<const Pack*>(updates + first * Layout::kUpdateStride);
  };
  const int whole = count / kStep * kStep;
  Pack ahead[kAhead];
  if (whole > 0) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      ahead[i] = pack(i * Layout::kPack);
    }
  }
  for (int at = 0; at < whole; at += kStep) {
    const int next = at + kStep < whole ? at + kStep : 0;  // the last loads are not used
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
#pragma unroll
      for (int u = 0; u < Layout::kPack; ++u) {
        value.add(ahead[i].values[u]);
      }
      ahead[i] = pack(next + i * Layout::kPack);
    }
  }
#pragma unroll 4
  for (int i = whole; i < count; ++i) {
    value.add(*reinterpret_cast<const T*>(updates + i * Layout::kUpdateStride));
  }
}

template <Reduction kReduction, class T>
__device__ void consume_item(const LongArgs& args, const LongItem& item, Ring<kLongSlots>& ring,
                             const std::byte* memory, uint32_t first_stage) {
  const int lane = static_cast<int>(threadIdx.x);
  const int element = lane < item.lanes ? lane : 0;
  auto* const cell = reinterpret_cast<T*>(args.reduce.output + item.output) + element;
  const std::byte* const updates = memory + element * StageLayout<T>::kElementStride;
  Accumulator<kReduction, T> value(*cell);
  int64_t left = item.count;
  for (uint32_t s = 0; s < item.stages; ++s, left -= kStageUpdates) {
    const uint32_t stage = first_stage + s;
    ring.wait_full(stage);
    consume<kReduction, T>(updates + ring.slot(stage) * kLongSlotBytes,
                           static_cast<int>(min(left, int64_t{kStageUpdates})), value);
    ring.empty[ring.slot(stage)].arrive();
  }
  if (lane < item.lanes) {
    *cell = value.result();
  }
}

// The first items go to the first blocks, which are on different multiprocessors; then who is free
// takes the next.
template <Reduction kReduction, class T>
__global__ void __launch_bounds__(kLongThreads, 2)
    reduce_long_kernel(const __grid_constant__ LongArgs args) {
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  __shared__ Ring<kLongSlots> ring;
  __shared__ int64_t next_item;
  let_next_launch_begin();
  if (refused(args.reduce.check)) {
    return;
  }
  if (threadIdx.x == 0) {
    ring.init(kLongProducers, 32);
  }
  __syncthreads();
  LongLists& lists = *args.reduce.sorted.long_state;
  const auto huge = static_cast<int64_t>(lists.huge);
  const int64_t items = (huge + static_cast<int64_t>(lists.others)) * args.groups;
  uint32_t stage = 0;
  for (int64_t number = blockIdx.x; number < items; number = next_item) {
    const LongItem item(args, number, huge);
    if (threadIdx.x < 32) {
      consume_item<kReduction, T>(args, item, ring, memory, stage);
    } else if (sizeof(T) >= 4 && sizeof(T) <= 8 && args.turned) {
      produce_turned<sizeof(T) == 8 ? 8 : 4>(args, item, ring, memory, stage);
    } else {
      produce(args, item, ring, memory, stage);
    }
    stage += item.stages;
    __syncthreads();
    if (threadIdx.x == 0) {
      next_item = int64_t{gridDim.x} + static_cast<int64_t>(atomicAdd(&lists.taken, 1ULL));
    }
    __syncthreads();
  }
}

template <Reduction kReduction, class T>
void launch_long(const ScatterNest& scatter, const ReduceArgs& reduce, int word_bytes,
                 Stream stream) {
  using Layout = StageLayout<T>;
  constexpr int kBytes = kLongSlots * kLongSlotBytes;
  LongArgs args{};
  args.reduce = reduce;
  args.row_elements = scatter.tuples.row_bytes / int64_t{sizeof(T)};
  args.element_bytes = sizeof(T);
  args.group_elements = Layout::kElements;
  args.groups_of_row = (args.row_elements - 1) / Layout::kElements + 1;
  args.groups = args.groups_of_row * scatter.slice_count;
  args.turned =
      (sizeof(T) == 4 || sizeof(T) == 8) && word_bytes == 16 && scatter.tuples.loops.size() == 1;
  args.word_bytes =
      Layout::kByElement && !args.turned ? std::min<int>(word_bytes, sizeof(T)) : word_bytes;
  args.run_bytes = Layout::kByElement ? int{sizeof(T)} : kGroupBytes;
  args.run_stride = Layout::kElementStride;
  args.update_stride = Layout::kUpdateStride;
  const auto kernel = reduce_long_kernel<kReduction, T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  const auto blocks = static_cast<unsigned>(2 * current_device().multiprocessors);
  kernel<<<blocks, kLongThreads, kBytes, stream>>>(args);
}

// The updates of every cell in their order: long lists, and beside them the short ones.
template <Reduction kReduction, class T, int kCount>
void launch_pieces(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   int word_bytes) {
  ReduceArgs args = reduce_args(scatter, call, sorted, sizeof(Elements<T, kCount>));
  const bool may_be_long = scatter.tuple_count > kLongList;
  if (may_be_long) {
    args.list_limit = kLongList;
    launch_long<kReduction, T>(scatter, args, word_bytes, call.stream);
  }
  const auto kernel = reduce_kernel<kReduction, T, kCount>;
  launch_early(kernel, args, reduce_blocks(scatter, args), kReduceThreads,
               may_be_long && waits_for_launch_before(kernel), call.stream);
}

template <Reduction kReduction>
void launch_reduce(const ScatterNest& scatter, const ScatterCall& call,
                   const SortedTuples& sorted) {
  const int word = scatter_word_bytes(scatter, call);
  with_element_type(scatter.tuples.element_type, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kSelects = kReduction == Reduction::kMin || kReduction == Reduction::kMax;
    // By 16 bytes for the types that large scatters have.
    constexpr bool kWide = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                           std::is_same_v<T, int32_t> ||
                           (kReduction == Reduction::kAdd &&
                            (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>));
    if constexpr (kSelects && is_complex_v<T>) {
      return;  // validation lets none pass
    } else if constexpr (kWide) {
      if (word == 16) {
        return launch_pieces<kReduction, T, 16 / int{sizeof(T)}>(scatter, call, sorted, word);
      }
      launch_pieces<kReduction, T, 1>(scatter, call, sorted, word);
    } else {
      launch_pieces<kReduction, T, 1>(scatter, call, sorted, word);
    }
  });
}

}  // namespace sheaf::cuda
