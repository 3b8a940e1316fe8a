// SPDX-License-Identifier: MIT
//
// Joining updates to cells: every thread has a few elements of one cell and joins to them, one
// after the other, what the cell's list says. Updates are asked for some places ahead.
#pragma once

#include "backends/cuda/device.h"
#include "backends/cuda/scatter.h"
#include "backends/cuda/scatter_target.cuh"
#include "plan/reduce.h"

namespace sheaf::cuda {

inline constexpr int kJoinThreads = 256;
inline constexpr int kUpdatesAhead = 4;

struct JoinArgs {
  AnyNest tuples, slices;
  std::byte* output;
  const std::byte* updates;
  const Verdict* verdict;
  SortedTuples sorted;
  int64_t lowest, unit;
  int64_t skipped;     // the key of no cell
  WideDivisor pieces;  // of a cell: what one thread has
  int64_t row_pieces;  // of a row
  Reduction reduction;
};

__device__ inline int64_t number_at(const JoinArgs& args, const void* numbers, int64_t at) {
  return args.sorted.wide ? static_cast<const int64_t*>(numbers)[at]
                          : int64_t{static_cast<const uint32_t*>(numbers)[at]};
}

// A list of tuples, and the cell they lead to.
struct List {
  int64_t begin, end;
  int64_t cell;  // byte offset
  bool live;     // false: of skipped tuples

  __device__ List(const JoinArgs& args, int64_t number, int64_t lists) {
    begin = number_at(args, args.sorted.heads, number);
    end = number + 1 < lists ? number_at(args, args.sorted.heads, number + 1) : args.tuples.points;
    const int64_t key = number_at(args, args.sorted.keys, begin);
    cell = args.lowest + key * args.unit;
    live = key != args.skipped;
  }
};

__device__ inline int64_t list_count(const JoinArgs& args) {
  return static_cast<int64_t>(*static_cast<const unsigned long long*>(args.sorted.head_count));
}

// A piece of a cell, by its number: byte offsets from the cell, and from a tuple's update.
struct Piece {
  int64_t output, updates;

  __device__ Piece(const JoinArgs& args, int64_t number, int piece_bytes) {
    const int64_t slice = number / args.row_pieces;
    const int64_t column = (number - slice * args.row_pieces) * piece_bytes;
    const Place place = locate(args.slices, slice);
    output = place.data + column;
    updates = place.output + column;
  }
};

// The byte offset of the update of entry `at` of the sorted list.
__device__ inline int64_t update_of(const JoinArgs& args, int64_t at) {
  return locate(args.tuples, number_at(args, args.sorted.tuples, at)).output;
}

template <class T, int kCount>
struct alignas(kCount == 1 ? alignof(T) : sizeof(T) * kCount) Elements {
  T values[kCount];
};

// plan/reduce.h's reduced() for a reduction that is looked up.
template <class T>
__device__ T reduced_by(Reduction reduction, T cell, T update) {
  switch (reduction) {
    case Reduction::kSub: return reduced<Reduction::kSub>(cell, update);
    case Reduction::kMul: return reduced<Reduction::kMul>(cell, update);
    case Reduction::kMin:
      if constexpr (!is_complex_v<T>) {
        return reduced<Reduction::kMin>(cell, update);
      }
      return cell;
    case Reduction::kMax:
      if constexpr (!is_complex_v<T>) {
        return reduced<Reduction::kMax>(cell, update);
      }
      return cell;
    default: return reduced<Reduction::kAdd>(cell, update);
  }
}

// Not repeated for every element: conversions in integers are long.
template <class T>
__device__ __noinline__ T reduced_small(Reduction reduction, T cell, T update) {
  return reduced_by(reduction, cell, update);
}

template <class T, int kCount>
__device__ void join_elements(Reduction reduction, Elements<T, kCount>& cell,
                              const Elements<T, kCount>& update) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (SmallFloat<T>::value) {
      cell.values[i] = reduced_small(reduction, cell.values[i], update.values[i]);
    } else {
      cell.values[i] = reduced_by(reduction, cell.values[i], update.values[i]);
    }
  }
}

template <class T, int kCount>
__global__ void __launch_bounds__(kJoinThreads) join_kernel(const __grid_constant__ JoinArgs args) {
  using Group = Elements<T, kCount>;
  const int64_t number = int64_t{blockIdx.x} * kJoinThreads + threadIdx.x;
  const auto list_number =
      static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
  const int64_t piece_number = number - list_number * static_cast<int64_t>(args.pieces.divisor);
  const int64_t lists = list_count(args);
  if (list_number >= lists || refused(args.verdict)) {
    return;
  }
  const List list(args, list_number, lists);
  if (!list.live) {
    return;
  }
  if (list.end - list.begin > kLongList) {
    if (piece_number == 0) {
      args.sorted.long_lists[atomicAdd(args.sorted.long_count, 1ULL)] =
          static_cast<unsigned long long>(list_number);
    }
    return;
  }
  const Piece piece(args, piece_number, sizeof(Group));
  const std::byte* updates = args.updates + piece.updates;
  auto* const cell = reinterpret_cast<Group*>(args.output + list.cell + piece.output);
  Group value = *cell;
  int64_t at = list.begin;
  for (; at + kUpdatesAhead <= list.end; at += kUpdatesAhead) {
    Group ahead[kUpdatesAhead];
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      ahead[i] = *reinterpret_cast<const Group*>(updates + update_of(args, at + i));
    }
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      join_elements(args.reduction, value, ahead[i]);
    }
  }
  for (; at < list.end; ++at) {
    join_elements(args.reduction, value,
                  *reinterpret_cast<const Group*>(updates + update_of(args, at)));
  }
  *cell = value;
}

inline constexpr int kJoinLanes = 32;
inline constexpr int kBatchBytes = 24576;  // of updates in shared memory, twice

// Up to kJoinLanes pieces of one long list's cell, from number `first` on.
struct LongJoin {
  List list;
  int64_t first;
  int lanes;
  int64_t updates_of_batch;

  __device__ LongJoin(const JoinArgs& args, const List& l, int64_t first_piece, int piece_bytes)
      : list(l), first(first_piece) {
    const auto pieces = static_cast<int64_t>(args.pieces.divisor);
    lanes = static_cast<int>(min(int64_t{kJoinLanes}, pieces - first));
    updates_of_batch = kBatchBytes / piece_bytes / lanes;
  }

  __device__ int updates_from(int64_t begin) const {
    return static_cast<int>(min(updates_of_batch, list.end - begin));
  }
};

// By all warps but the first: a batch of updates from `begin` on, in words that are aligned. Not
// repeated for every type.
template <int kBytes, int kWord>
__device__ __noinline__ void bring_batch(const JoinArgs& args, const LongJoin& work, int64_t begin,
                                         std::byte* batch) {
  const int count = work.updates_from(begin) * work.lanes;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x) - kJoinLanes; i < count;
       i += kJoinThreads - kJoinLanes) {
    const int update = i / work.lanes;
    const Piece piece(args, work.first + i - update * work.lanes, kBytes);
    const std::byte* from = args.updates + piece.updates + update_of(args, begin + update);
#pragma unroll
    for (int at = 0; at < kBytes; at += kWord) {
      *reinterpret_cast<Word<kWord>*>(batch + i * kBytes + at) = load_once<Word<kWord>>(from + at);
    }
  }
}

// Long lists: the first warp joins a batch that is in shared memory, a piece a lane, while the
// others bring the next one there.
template <class T, int kCount>
__global__ void __launch_bounds__(kJoinThreads)
    join_long_kernel(const __grid_constant__ JoinArgs args) {
  using Group = Elements<T, kCount>;
  __shared__ alignas(16) std::byte batches[2][kBatchBytes];
  const int64_t parts = (static_cast<int64_t>(args.pieces.divisor) - 1) / kJoinLanes + 1;
  const auto items = static_cast<int64_t>(*args.sorted.long_count) * parts;
  const bool brings = threadIdx.x >= kJoinLanes;
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto number = static_cast<int64_t>(args.sorted.long_lists[item / parts]);
    const LongJoin work(args, List(args, number, list_count(args)), item % parts * kJoinLanes,
                        sizeof(Group));
    const bool joins = static_cast<int>(threadIdx.x) < work.lanes;
    const Piece piece(args, work.first + (joins ? threadIdx.x : 0), sizeof(Group));
    auto* const cell = reinterpret_cast<Group*>(args.output + work.list.cell + piece.output);
    Group value = *cell;
    if (brings) {
      bring_batch<sizeof(Group), alignof(Group)>(args, work, work.list.begin, batches[0]);
    }
    __syncthreads();
    int turn = 0;
    for (int64_t at = work.list.begin; at < work.list.end; at += work.updates_of_batch, turn ^= 1) {
      if (brings) {
        bring_batch<sizeof(Group), alignof(Group)>(args, work, at + work.updates_of_batch,
                                                   batches[turn ^ 1]);
      } else if (joins) {
        const auto* batch = reinterpret_cast<const Group*>(batches[turn]) + threadIdx.x;
        const int count = work.updates_from(at);
#pragma unroll 4
        for (int i = 0; i < count; ++i) {
          join_elements(args.reduction, value, batch[i * work.lanes]);
        }
      }
      __syncthreads();
    }
    if (joins) {
      *cell = value;
    }
  }
}

inline JoinArgs join_args(const ScatterNest& scatter, const ScatterCall& call,
                          const SortedTuples& sorted, int64_t piece_bytes) {
  const int64_t row_pieces = scatter.tuples.row_bytes / piece_bytes;
  return {device_nest<AnyNest>(scatter.tuples),
          device_nest<AnyNest>(scatter.slices),
          call.output,
          call.updates,
          call.verdict,
          sorted,
          scatter.lowest,
          scatter.unit,
          scatter.key_count,
          WideDivisor(static_cast<uint64_t>(row_pieces * scatter.slice_count)),
          row_pieces,
          scatter.tuples.reduction};
}

// One thread a piece of as many cells as there can be.
inline unsigned join_blocks(const ScatterNest& scatter, const JoinArgs& args) {
  const int64_t lists = std::min(scatter.tuple_count, scatter.key_count + 1);
  return blocks_of(lists * static_cast<int64_t>(args.pieces.divisor), kJoinThreads);
}

template <class T, int kCount>
void launch_join_of(const ScatterNest& scatter, const ScatterCall& call,
                    const SortedTuples& sorted) {
  const JoinArgs args = join_args(scatter, call, sorted, sizeof(Elements<T, kCount>));
  join_kernel<T, kCount><<<join_blocks(scatter, args), kJoinThreads, 0, call.stream>>>(args);
  if (scatter.tuple_count > kLongList) {
    const auto blocks = static_cast<unsigned>(4 * current_device().multiprocessors);
    join_long_kernel<T, kCount><<<blocks, kJoinThreads, 0, call.stream>>>(args);
  }
}

}  // namespace sheaf::cuda
