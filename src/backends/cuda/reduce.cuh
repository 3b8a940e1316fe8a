// SPDX-License-Identifier: MIT
//
// The updates of a cell, reduced in order: every thread has a few elements of one cell and reduces
// the cell's list of updates into them. Updates are loaded a few places ahead.
#pragma once

#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter.h"
#include "plan/reduce.h"

namespace sheaf::cuda {

inline constexpr int kReduceThreads = 256;
inline constexpr int kUpdatesAhead = 4;

struct ReduceArgs {
  AnyNest tuples, slices;
  std::byte* output;
  const std::byte* updates;
  const Verdict* check;
  SortedTuples sorted;
  int64_t lowest, unit;
  int64_t skipped;     // the key of no cell
  WideDivisor pieces;  // of a cell: what one thread has
  int64_t row_pieces;  // of a row
  Reduction reduction;
};

__device__ inline int64_t number_at(const ReduceArgs& args, const void* numbers, int64_t at) {
  return args.sorted.wide ? static_cast<const int64_t*>(numbers)[at]
                          : int64_t{static_cast<const uint32_t*>(numbers)[at]};
}

// A list of tuples, and the cell they lead to.
struct List {
  int64_t begin, end;
  int64_t cell;  // byte offset
  bool live;     // false: of skipped tuples

  __device__ List(const ReduceArgs& args, int64_t number, int64_t lists) {
    begin = number_at(args, args.sorted.heads, number);
    end = number + 1 < lists ? number_at(args, args.sorted.heads, number + 1) : args.tuples.points;
    const int64_t key = number_at(args, args.sorted.keys, begin);
    cell = args.lowest + key * args.unit;
    live = key != args.skipped;
  }
};

__device__ inline int64_t list_count(const ReduceArgs& args) {
  return static_cast<int64_t>(*static_cast<const unsigned long long*>(args.sorted.head_count));
}

// A piece of a cell, by its number: byte offsets from the cell, and from a tuple's update.
struct Piece {
  int64_t output, updates;

  __device__ Piece(const ReduceArgs& args, int64_t number, int piece_bytes) {
    const int64_t slice = number / args.row_pieces;
    const int64_t column = (number - slice * args.row_pieces) * piece_bytes;
    const Place place = locate(args.slices, slice);
    output = place.data + column;
    updates = place.output + column;
  }
};

// The byte offset of the update of entry `at` of the sorted list.
__device__ inline int64_t update_of(const ReduceArgs& args, int64_t at) {
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
    case Reduction::kAdd:
    case Reduction::kMean: return reduced<Reduction::kAdd>(cell, update);
    case Reduction::kNone: break;  // has a kernel that moves words
  }
  return update;
}

// Not repeated for every element: conversions in integers are long.
template <class T>
__device__ __noinline__ T reduced_small(Reduction reduction, T cell, T update) {
  return reduced_by(reduction, cell, update);
}

template <class T, int kCount>
__device__ void reduce_elements(Reduction reduction, Elements<T, kCount>& cell,
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
__global__ void __launch_bounds__(kReduceThreads)
    reduce_kernel(const __grid_constant__ ReduceArgs args) {
  using Group = Elements<T, kCount>;
  const int64_t number = int64_t{blockIdx.x} * kReduceThreads + threadIdx.x;
  const auto list_number =
      static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
  const int64_t piece_number = number - list_number * static_cast<int64_t>(args.pieces.divisor);
  const int64_t lists = list_count(args);
  if (list_number >= lists || refused(args.check)) {
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
      reduce_elements(args.reduction, value, ahead[i]);
    }
  }
  for (; at < list.end; ++at) {
    reduce_elements(args.reduction, value,
                    *reinterpret_cast<const Group*>(updates + update_of(args, at)));
  }
  *cell = value;
}

inline constexpr int kReduceLanes = 32;
inline constexpr int kBatchBytes = 24576;  // of updates in shared memory, twice

// Up to kReduceLanes pieces of one long list's cell, from number `first` on.
struct LongReduce {
  List list;
  int64_t first;
  int lanes;
  int64_t updates_of_batch;

  __device__ LongReduce(const ReduceArgs& args, const List& l, int64_t first_piece, int piece_bytes)
      : list(l), first(first_piece) {
    const auto pieces = static_cast<int64_t>(args.pieces.divisor);
    lanes = static_cast<int>(min(int64_t{kReduceLanes}, pieces - first));
    updates_of_batch = kBatchBytes / piece_bytes / lanes;
  }

  __device__ int updates_from(int64_t begin) const {
    return static_cast<int>(min(updates_of_batch, list.end - begin));
  }
};

// By all warps but the first: a batch of updates from `begin` on, in aligned words. One copy serves
// all types of one size.
template <int kBytes, int kWord>
__device__ __noinline__ void bring_batch(const ReduceArgs& args, const LongReduce& work,
                                         int64_t begin, std::byte* batch) {
  const int count = work.updates_from(begin) * work.lanes;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x) - kReduceLanes; i < count;
       i += kReduceThreads - kReduceLanes) {
    const int update = i / work.lanes;
    const Piece piece(args, work.first + i - update * work.lanes, kBytes);
    const std::byte* from = args.updates + piece.updates + update_of(args, begin + update);
#pragma unroll
    for (int at = 0; at < kBytes; at += kWord) {
      *reinterpret_cast<Word<kWord>*>(batch + i * kBytes + at) = load_once<Word<kWord>>(from + at);
    }
  }
}

// Long lists: the first warp reduces a batch that is in shared memory, one piece per lane, while
// the others bring the next batch there.
template <class T, int kCount>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_long_kernel(const __grid_constant__ ReduceArgs args) {
  using Group = Elements<T, kCount>;
  __shared__ alignas(16) std::byte batches[2][kBatchBytes];
  const int64_t parts = (static_cast<int64_t>(args.pieces.divisor) - 1) / kReduceLanes + 1;
  const auto items = static_cast<int64_t>(*args.sorted.long_count) * parts;
  const bool brings = threadIdx.x >= kReduceLanes;
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto number = static_cast<int64_t>(args.sorted.long_lists[item / parts]);
    const LongReduce work(args, List(args, number, list_count(args)), item % parts * kReduceLanes,
                          sizeof(Group));
    const bool reduces = static_cast<int>(threadIdx.x) < work.lanes;
    const Piece piece(args, work.first + (reduces ? threadIdx.x : 0), sizeof(Group));
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
      } else if (reduces) {
        const auto* batch = reinterpret_cast<const Group*>(batches[turn]) + threadIdx.x;
        const int count = work.updates_from(at);
#pragma unroll 4
        for (int i = 0; i < count; ++i) {
          reduce_elements(args.reduction, value, batch[i * work.lanes]);
        }
      }
      __syncthreads();
    }
    if (reduces) {
      *cell = value;
    }
  }
}

inline ReduceArgs reduce_args(const ScatterNest& scatter, const ScatterCall& call,
                              const SortedTuples& sorted, int64_t piece_bytes) {
  const int64_t row_pieces = scatter.tuples.row_bytes / piece_bytes;
  return {device_nest<AnyNest>(scatter.tuples),
          device_nest<AnyNest>(scatter.slices),
          call.output,
          call.updates,
          call.check,
          sorted,
          scatter.lowest,
          scatter.unit,
          scatter.key_count,
          WideDivisor(static_cast<uint64_t>(row_pieces * scatter.slice_count)),
          row_pieces,
          scatter.tuples.reduction};
}

// Lists of tuples by cell: at most one per cell, and one of skipped tuples.
inline int64_t most_lists(const ScatterNest& scatter) {
  return std::min(scatter.tuple_count, scatter.key_count + 1);
}

// One thread per piece; sized for the maximum number of cells.
inline unsigned reduce_blocks(const ScatterNest& scatter, const ReduceArgs& args) {
  return blocks_of(most_lists(scatter) * static_cast<int64_t>(args.pieces.divisor), kReduceThreads);
}

template <class T, int kCount>
void launch_reduce_of(const ScatterNest& scatter, const ScatterCall& call,
                      const SortedTuples& sorted) {
  const ReduceArgs args = reduce_args(scatter, call, sorted, sizeof(Elements<T, kCount>));
  reduce_kernel<T, kCount><<<reduce_blocks(scatter, args), kReduceThreads, 0, call.stream>>>(args);
  if (scatter.tuple_count > kLongList) {
    const auto blocks = static_cast<unsigned>(4 * current_device().multiprocessors);
    reduce_long_kernel<T, kCount><<<blocks, kReduceThreads, 0, call.stream>>>(args);
  }
}

}  // namespace sheaf::cuda
