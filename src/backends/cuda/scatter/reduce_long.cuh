// SPDX-License-Identifier: MIT
//
// Long lists of updates, reduced in order. The order is that of the updates, so the limit is one
// dependent operation per update, not one memory access: producer warps copy updates to a ring in
// shared memory (produce_long.cuh), and one consumer warp reduces them from there, one element of
// the cell per lane. Groups of elements of a cell are independent and go to different blocks.
#pragma once

#include "backends/cuda/scatter/produce_long.cuh"
#include "backends/cuda/scatter/reduce_many.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

// What the consumer reads at a time, and how many of them ahead of the chain of operations. Two
// batches are no more updates than the shortest stage has, which is one of words of sizeof(T).
template <class T>
inline constexpr int kVector = 16 / int{sizeof(T)};
template <Reduction kReduction, class T>
inline constexpr int kBatch = sizeof(T) <= 2                      ? int{sizeof(T)}
                              : Accumulator<kReduction, T>::kFast ? 4
                                                                  : 2;

template <Reduction kReduction, class T>
using Vectors = Elements<T, kVector<T>>[kBatch<kReduction, T>];

template <Reduction kReduction, class T>
__device__ void load_batch(const Elements<T, kVector<T>>* from, Vectors<kReduction, T>& batch) {
#pragma unroll
  for (int i = 0; i < kBatch<kReduction, T>; ++i) {
    batch[i] = from[i];
  }
}

template <Reduction kReduction, class T>
__device__ void add_batch(const Vectors<kReduction, T>& batch, Accumulator<kReduction, T>& value) {
#pragma unroll
  for (int i = 0; i < kBatch<kReduction, T>; ++i) {
#pragma unroll
    for (int k = 0; k < kVector<T>; ++k) {
      value.add(batch[i].values[k]);
    }
  }
}

// Reduces one element of `count` updates. Two batches take turns in registers: one is loaded while
// the other is added.
template <Reduction kReduction, class T>
__device__ void consume(const T* updates, int count, Accumulator<kReduction, T>& value) {
  constexpr int kAhead = kBatch<kReduction, T>;
  static_assert(2 * kAhead * kVector<T> <= kShortestStage<int{sizeof(T)}>);
  const int rounds = count / (2 * kAhead * kVector<T>);
  const auto* const vectors = reinterpret_cast<const Elements<T, kVector<T>>*>(updates);
  Vectors<kReduction, T> even, odd;
  if (rounds > 0) {
    load_batch<kReduction, T>(vectors, even);
  }
  for (int round = 0; round < rounds; ++round) {
    const int at = round * 2 * kAhead;
    load_batch<kReduction, T>(vectors + at + kAhead, odd);
    add_batch<kReduction, T>(even, value);
    load_batch<kReduction, T>(vectors + (round + 1 < rounds ? at + 2 * kAhead : 0), even);
    add_batch<kReduction, T>(odd, value);
  }
#pragma unroll 4
  for (int i = rounds * 2 * kAhead * kVector<T>; i < count; ++i) {
    value.add(updates[i]);
  }
}

template <Reduction kReduction, class T>
__device__ void consume_item(const LongArgs& args, Team& team, const std::byte* memory, int lane,
                             uint32_t first_stage) {
  constexpr int kElement = sizeof(T);
  const LongItem& item = team.item;
  const bool live = lane < item.lanes;
  const int column = live ? lane : 0;
  auto* const cell = reinterpret_cast<T*>(args.reduce.output + item.output) + column;
  Accumulator<kReduction, T> value(*cell);
  const int rows_of_stage = item.rows_of_stage();
  int64_t left = item.count;
  for (uint32_t stage = first_stage; left > 0; ++stage, left -= rows_of_stage) {
    team.ring.wait_full(stage);
    const std::byte* const updates =
        memory + team.ring.slot(stage) * kLongSlotBytes<kElement> + column * kColumnBytes<kElement>;
    consume<kReduction, T>(reinterpret_cast<const T*>(updates),
                           static_cast<int>(min(left, int64_t{rows_of_stage})), value);
    team.ring.empty[team.ring.slot(stage)].arrive();
  }
  if (live) {
    *cell = value.result();
  }
}

// Which team a thread is in, and where: the first warp of a team consumes. A multiprocessor has
// four schedulers, and warp w is on scheduler w % 4. The first team leaves that of its consumer
// alone, so that nothing delays the chain of operations where there is only one long list.
struct Member {
  int team, thread;

  __device__ Member() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    team = warp != 0 && (warp % 4 == 0 || warp > 10) ? 1 : 0;
    const int first = warp - warp / 4;                            // 0, 1, 2, 3, -, 4, 5, 6, -, 7, 8
    const int second = warp == 4 ? 0 : warp == 8 ? 1 : warp - 9;  // 11, 12 … 17 are 2, 3 … 8
    thread = (team == 0 ? first : second) * 32 + lane;
  }
  __device__ bool consumes() const { return thread < 32; }
  __device__ void synchronize() const {  // barrier 0 is that of __syncthreads()
    asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(kTeamThreads) : "memory");
  }
};

// The next group of a list that no team has taken. By one thread of the team.
__device__ inline bool take_item(const LongArgs& args, const Member& member, int group_elements,
                                 LongItem& item) {
  LongLists& lists = *args.reduce.sorted.long_state;
  const uint64_t others = has_many_lists(args.reduce) ? 0 : lists.others;
  const auto items = static_cast<int64_t>(lists.huge + others) * args.groups;
  // Teams of a multiprocessor slow each other down: few items go to the first ones.
  if (member.team >= args.teams || (member.team != 0 && items <= gridDim.x)) {
    return false;
  }
  const auto number = static_cast<int64_t>(atomicAdd(&lists.taken, 1ULL));
  if (number >= items) {
    return false;
  }
  item = long_item(args, number, group_elements);
  return true;
}

template <Reduction kReduction, class T>
__global__ void __launch_bounds__(kLongThreads, 1)
    reduce_long_kernel(const __grid_constant__ LongArgs args) {
  constexpr int kElement = sizeof(T);
  extern __shared__ uint4 shared[];
  __shared__ Team teams[tuning::Long::kTeams];
  let_next_launch_begin();
  if (refused(args.reduce.check)) {
    return;
  }
  const Member member;
  Team& team = teams[member.team];
  std::byte* const memory =
      reinterpret_cast<std::byte*>(shared) + member.team * kRingBytes<kElement>;
  if (member.thread == 0) {
    team.ring.init(tuning::Long::kProducers, 32);
  }
  for (uint32_t stage = 0; true; stage += team.item.stages) {
    member.synchronize();
    if (member.thread == 0) {
      team.took = take_item(args, member, kGroupElements<kElement>, team.item);
    }
    member.synchronize();
    if (!team.took) {
      return;
    }
    if (member.consumes()) {
      consume_item<kReduction, T>(args, team, memory, member.thread, stage);
    } else {
      produce_item<kElement>(args, team, memory, member.thread - 32, stage);
    }
  }
}

template <Reduction kReduction, class T>
void launch_long(const ScatterNest& scatter, const ReduceArgs& reduce, int word_bytes,
                 Stream stream) {
  constexpr int kElement = sizeof(T);
  const Device& device = current_device();
  LongArgs args{.reduce = reduce,
                .row_elements = scatter.tuples.row_bytes / kElement,
                .element_bytes = kElement,
                .groups_of_row = 0,
                .groups = 0,
                .word_bytes = word_bytes,
                .teams = device.shared_bytes >= tuning::Long::kTeams * kRingBytes<kElement> +
                                                    tuning::Long::kOtherShared
                             ? tuning::Long::kTeams
                             : 1};
  args.groups_of_row = (args.row_elements - 1) / kGroupElements<kElement> + 1;
  args.groups = args.groups_of_row * scatter.slice_count;
  const int bytes = args.teams * kRingBytes<kElement>;
  const auto kernel = reduce_long_kernel<kReduction, T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<static_cast<unsigned>(device.multiprocessors), kLongThreads, static_cast<size_t>(bytes),
           stream>>>(args);
}

// The updates of every cell in their order: huge lists, beside them the other long ones, and beside
// those the short ones.
template <Reduction kReduction, class T, int kCount>
void launch_pieces(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   int word_bytes) {
  ReduceArgs args = reduce_args(scatter, call, sorted, sizeof(Elements<T, kCount>));
  bool early = false;
  if (scatter.tuple_count > tuning::Lists::kLong) {
    args.list_limit = tuning::Lists::kLong;
    args.many_lists = kHasMany<T, kCount> ? many_lists(scatter) : UINT64_MAX;
    launch_long<kReduction, T>(scatter, args, word_bytes, call.stream);
    early = waits_for_launch_before(reduce_kernel<kReduction, T, kCount>);
    if constexpr (kHasMany<T, kCount>) {
      if (args.many_lists != UINT64_MAX) {
        launch_many<kReduction, T, kCount>(args, early, call.stream);
      }
    }
  }
  launch_early(reduce_kernel<kReduction, T, kCount>, args, reduce_blocks(args), kBlockThreads,
               early, call.stream);
}

template <Reduction kReduction>
void launch_sorted(const ScatterNest& scatter, const ScatterCall& call,
                   const SortedTuples& sorted) {
  with_pieces<kReduction>(scatter, call, [&](auto piece, int word_bytes) {
    using P = decltype(piece);
    launch_pieces<kReduction, typename P::Type, P::kCount>(scatter, call, sorted, word_bytes);
  });
}

}  // namespace sheaf::cuda
