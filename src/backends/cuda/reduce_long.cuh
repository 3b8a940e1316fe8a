// SPDX-License-Identifier: MIT
//
// Long lists of updates, reduced in order. The order is that of the updates, so the limit is one
// dependent operation per update, not one memory access: producer warps bring updates to a ring in
// shared memory, and one consumer warp reduces them from there, one element of the cell per lane.
// Groups of elements of a cell are independent and go to different blocks.
#pragma once

#include "backends/cuda/pipeline.cuh"
#include "backends/cuda/reduce.cuh"

namespace sheaf::cuda {

inline constexpr int kLongProducers = 256;
inline constexpr int kLongThreads = kLongProducers + 32;
inline constexpr int kLongSlots = 6;
inline constexpr int kLongLoads = 4;    // words per producer and stage
inline constexpr int kGroupBytes = 64;  // elements of a cell that a block reduces at a time
inline constexpr int kMostRows =
    64;  // updates that the producers load at a time, and kLongLoads times
inline constexpr int kLongSlotBytes = kMostRows * kLongLoads * kGroupBytes;

template <class T>
inline constexpr int kGroupElements = std::min<int>(32, kGroupBytes / int{sizeof(T)});

// Updates that the consumer reads ahead of the chain of operations.
template <Reduction kReduction, class T>
inline constexpr int kBatch =
    !Accumulator<kReduction, T>::kFast ? 2 : std::min<int>(16, 64 / int{sizeof(T)});

struct LongArgs {
  ReduceArgs reduce;
  int64_t row_elements, element_bytes;
  int64_t groups_of_row, groups;  // of a row; of a cell
  int word_bytes;                 // by which updates are copied
  int group_bytes;                // from one update in the ring to the next
};

// One list and one group of its cell's elements.
struct LongItem {
  List list;
  int64_t output, updates;  // byte offsets of the group
  int lanes;                // elements
  int words;                // of an update
  int rows_of_pass;         // updates that the producers load at a time
  int64_t count;            // updates
  uint32_t stages;

  __device__ LongItem(const LongArgs& args, int64_t item, int64_t huge, int group_elements)
      : list(args.reduce, list_number(args, item / args.groups, huge), list_count(args.reduce)) {
    const int64_t group = item % args.groups;
    const int64_t slice = group / args.groups_of_row;
    const int64_t first = (group - slice * args.groups_of_row) * group_elements;
    const Place place = locate(args.reduce.slices, slice);
    output = list.cell + place.data + first * args.element_bytes;
    updates = place.output + first * args.element_bytes;
    lanes = static_cast<int>(min(int64_t{group_elements}, args.row_elements - first));
    words = lanes * static_cast<int>(args.element_bytes) / args.word_bytes;
    rows_of_pass = min(kMostRows, kLongProducers / words);
    count = list.end - list.begin;
    stages = static_cast<uint32_t>((count - 1) / rows_of_stage() + 1);
  }

  // Huge lists are noted from the front on, the others from the back.
  __device__ static int64_t list_number(const LongArgs& args, int64_t at, int64_t huge) {
    const SortedTuples& sorted = args.reduce.sorted;
    const int64_t slot = at < huge ? at : sorted.long_capacity - 1 - (at - huge);
    return static_cast<int64_t>(sorted.long_lists[slot]);
  }
  __device__ int rows_of_stage() const { return rows_of_pass * kLongLoads; }
};

// The byte offset of a tuple's update. Most scatters have one loop over tuples.
struct UpdateOffset {
  const AnyNest& tuples;
  int64_t stride;
  bool one_loop;

  __device__ explicit UpdateOffset(const AnyNest& nest)
      : tuples(nest), stride(nest.loops[0].output), one_loop(nest.any_loops == 1) {}
  __device__ int64_t operator()(int64_t tuple) const {
    return one_loop ? tuple * stride : locate(tuples, tuple).output;
  }
};

// One copy serves all types and reductions. What the loop needs is in registers: `args` and `item`
// are memory, read again after every barrier. Numbers of tuples are loaded two stages ahead of
// their updates.
template <int kWord>
__device__ __noinline__ void produce(const LongArgs& args, const LongItem& item,
                                     Ring<kLongSlots>& ring, std::byte* memory,
                                     uint32_t first_stage) {
  const int thread = static_cast<int>(threadIdx.x) - 32;
  const int row = thread / item.words;
  const int word = thread - row * item.words;
  const int rows_of_pass = item.rows_of_pass;
  const int rows_of_stage = item.rows_of_stage();
  const uint32_t stages = item.stages;
  const int64_t count = row < rows_of_pass ? item.count : 0;
  const std::byte* from = args.reduce.updates + item.updates + word * kWord;
  const void* const tuple_numbers = args.reduce.sorted.tuples;
  const int64_t begin = item.list.begin;
  const bool wide = args.reduce.sorted.wide;
  const int group_bytes = args.group_bytes;
  const UpdateOffset offset_of(args.reduce.tuples);
  const auto load_tuples = [&](int64_t first, int64_t(&tuples)[kLongLoads]) {
#pragma unroll
    for (int i = 0; i < kLongLoads; ++i) {
      const int64_t k = first + row + i * rows_of_pass;
      tuples[i] = k < count ? number_at(wide, tuple_numbers, begin + k) : -1;
    }
  };
  const auto copy_stage = [&](uint32_t stage, const int64_t(&tuples)[kLongLoads]) {
    ring.wait_empty(stage);
    std::byte* to = memory + ring.slot(stage) * kLongSlotBytes + row * group_bytes + word * kWord;
#pragma unroll
    for (int i = 0; i < kLongLoads; ++i) {
      if (tuples[i] >= 0) {
        const std::byte* update = from + offset_of(tuples[i]);
        std::byte* const there = to + i * rows_of_pass * group_bytes;
        if constexpr (kWord >= 4) {
          copy_async<kWord>(there, update);
        } else {
          *reinterpret_cast<Word<kWord>*>(there) = load_once<Word<kWord>>(update);
        }
      }
    }
    if constexpr (kWord >= 4) {
      ring.full[ring.slot(stage)].arrive_after_copies();
    } else {
      ring.full[ring.slot(stage)].arrive();
    }
  };
  // Three sets of registers take turns: moving a number from one to another would wait for it.
  constexpr int kSets = 3;
  int64_t tuples[kSets][kLongLoads];
#pragma unroll
  for (int set = 0; set < kSets; ++set) {
    load_tuples(int64_t{set} * rows_of_stage, tuples[set]);
  }
  for (uint32_t s = 0; s < stages; s += kSets) {
#pragma unroll
    for (uint32_t set = 0; set < kSets; ++set) {
      if (s + set < stages) {
        copy_stage(first_stage + s + set, tuples[set]);
        load_tuples(int64_t{s + set + kSets} * rows_of_stage, tuples[set]);
      }
    }
  }
}

// Reduces one batch while the next is loaded.
template <Reduction kReduction, class T>
__device__ void consume_batch(Accumulator<kReduction, T>& value,
                              const T (&now)[kBatch<kReduction, T>],
                              T (&next)[kBatch<kReduction, T>], const T* from) {
#pragma unroll
  for (int i = 0; i < kBatch<kReduction, T>; ++i) {
    next[i] = from[i * kGroupElements<T>];
    value.add(now[i]);
  }
}

// Reduces one element of `count` updates. Two batches take turns in registers.
template <Reduction kReduction, class T>
__device__ void consume(const T* updates, int count, Accumulator<kReduction, T>& value) {
  constexpr int kAhead = kBatch<kReduction, T>;
  constexpr int kStep = kGroupElements<T>;
  const int whole = count / (2 * kAhead) * (2 * kAhead);
  T even[kAhead], odd[kAhead];
  if (whole > 0) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      even[i] = updates[i * kStep];
    }
  }
  for (int at = 0; at < whole; at += 2 * kAhead) {
    consume_batch<kReduction, T>(value, even, odd, updates + (at + kAhead) * kStep);
    const int after = at + 2 * kAhead < whole ? at + 2 * kAhead : 0;
    consume_batch<kReduction, T>(value, odd, even, updates + after * kStep);
  }
#pragma unroll 8
  for (int i = whole; i < count; ++i) {
    value.add(updates[i * kStep]);
  }
}

template <Reduction kReduction, class T>
__device__ void consume_item(const LongArgs& args, const LongItem& item, Ring<kLongSlots>& ring,
                             const std::byte* memory, uint32_t first_stage) {
  const int lane = static_cast<int>(threadIdx.x);
  const bool live = lane < item.lanes;
  auto* const cell = reinterpret_cast<T*>(args.reduce.output + item.output) + (live ? lane : 0);
  Accumulator<kReduction, T> value(*cell);
  for (uint32_t s = 0; s < item.stages; ++s) {
    const uint32_t stage = first_stage + s;
    ring.wait_full(stage);
    const auto* updates =
        reinterpret_cast<const T*>(memory + ring.slot(stage) * kLongSlotBytes) + (live ? lane : 0);
    const int64_t left = item.count - int64_t{s} * item.rows_of_stage();
    consume<kReduction, T>(updates, static_cast<int>(min(left, int64_t{item.rows_of_stage()})),
                           value);
    ring.empty[ring.slot(stage)].arrive();
  }
  if (live) {
    *cell = value.result();
  }
}

template <Reduction kReduction, class T>
__global__ void __launch_bounds__(kLongThreads, 2)
    reduce_long_kernel(const __grid_constant__ LongArgs args) {
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  __shared__ Ring<kLongSlots> ring;
  __shared__ unsigned long long next_item;
  let_next_launch_begin();
  if (refused(args.reduce.check)) {
    return;
  }
  if (threadIdx.x == 0) {
    ring.init(kLongProducers, 32);
  }
  LongLists& lists = *args.reduce.sorted.long_state;
  const auto huge = static_cast<int64_t>(lists.huge);
  const int64_t items = (huge + static_cast<int64_t>(lists.others)) * args.groups;
  uint32_t stage = 0;
  while (true) {
    if (threadIdx.x == 0) {
      next_item = atomicAdd(&lists.taken, 1ULL);
    }
    __syncthreads();
    const auto number = static_cast<int64_t>(next_item);
    if (number >= items) {
      return;
    }
    const LongItem item(args, number, huge, kGroupElements<T>);
    if (threadIdx.x < 32) {
      consume_item<kReduction, T>(args, item, ring, memory, stage);
    } else {
      switch (args.word_bytes) {
        case 16: produce<16>(args, item, ring, memory, stage); break;
        case 8: produce<8>(args, item, ring, memory, stage); break;
        case 4: produce<4>(args, item, ring, memory, stage); break;
        case 2: produce<2>(args, item, ring, memory, stage); break;
        default: produce<1>(args, item, ring, memory, stage); break;
      }
    }
    stage += item.stages;
    __syncthreads();
  }
}

template <Reduction kReduction, class T>
void launch_long(const ScatterNest& scatter, const ReduceArgs& reduce, int word_bytes,
                 Stream stream) {
  constexpr int kBytes = kLongSlots * kLongSlotBytes;
  LongArgs args{reduce,
                scatter.tuples.row_bytes / int64_t{sizeof(T)},
                sizeof(T),
                0,
                0,
                word_bytes,
                kGroupElements<T> * int{sizeof(T)}};
  args.groups_of_row = (args.row_elements - 1) / kGroupElements<T> + 1;
  args.groups = args.groups_of_row * scatter.slice_count;
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
