// SPDX-License-Identifier: MIT
//
// The updates of cells, reduced in order. Short lists of updates: every thread has a few elements
// of one cell and walks its list, loading a few updates ahead. Long lists: reduce_long.cuh.
#pragma once

#include "backends/cuda/accumulate.cuh"
#include "backends/cuda/early_launch.cuh"
#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter.h"

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
  int64_t list_limit;  // longer lists are left to another kernel
};

__device__ inline int64_t number_at(bool wide, const void* numbers, int64_t at) {
  return wide ? static_cast<const int64_t*>(numbers)[at]
              : int64_t{static_cast<const uint32_t*>(numbers)[at]};
}
__device__ inline int64_t number_at(const ReduceArgs& args, const void* numbers, int64_t at) {
  return number_at(args.sorted.wide, numbers, at);
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
  return static_cast<int64_t>(*args.sorted.head_count);
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

// A thread's elements of a cell.
template <Reduction kReduction, class T, int kCount>
struct Accumulators {
  Accumulator<kReduction, T> values[kCount];

  __device__ void add(const Elements<T, kCount>& update) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i].add(update.values[i]);
    }
  }
  __device__ Elements<T, kCount> result() const {
    Elements<T, kCount> elements;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      elements.values[i] = values[i].result();
    }
    return elements;
  }
};

template <Reduction kReduction, class T, int... kAt>
__device__ Accumulators<kReduction, T, int{sizeof...(kAt)}> accumulators(
    const Elements<T, int{sizeof...(kAt)}>& cell, std::integer_sequence<int, kAt...>) {
  return {{Accumulator<kReduction, T>(cell.values[kAt])...}};
}

template <Reduction kReduction, class T, int kCount>
__device__ void reduce_list(const ReduceArgs& args, const List& list, int64_t piece_number) {
  using Group = Elements<T, kCount>;
  const Piece piece(args, piece_number, sizeof(Group));
  const std::byte* updates = args.updates + piece.updates;
  auto* const cell = reinterpret_cast<Group*>(args.output + list.cell + piece.output);
  auto value = accumulators<kReduction, T>(*cell, std::make_integer_sequence<int, kCount>{});
  int64_t at = list.begin;
  for (; at + kUpdatesAhead <= list.end; at += kUpdatesAhead) {
    Group ahead[kUpdatesAhead];
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      ahead[i] = *reinterpret_cast<const Group*>(updates + update_of(args, at + i));
    }
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      value.add(ahead[i]);
    }
  }
  for (; at < list.end; ++at) {
    value.add(*reinterpret_cast<const Group*>(updates + update_of(args, at)));
  }
  *cell = value.result();
}

// May begin while long lists, which are other cells, are still being reduced.
template <Reduction kReduction, class T, int kCount>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_kernel(const __grid_constant__ ReduceArgs args) {
  const int64_t number = int64_t{blockIdx.x} * kReduceThreads + threadIdx.x;
  const auto list_number =
      static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
  const int64_t lists = list_count(args);
  if (list_number < lists && !refused(args.check)) {
    const List list(args, list_number, lists);
    if (list.live && list.end - list.begin <= args.list_limit) {
      reduce_list<kReduction, T, kCount>(
          args, list, number - list_number * static_cast<int64_t>(args.pieces.divisor));
    }
  }
  if (blockIdx.x == gridDim.x - 1) {  // this launch ends after the one before it
    wait_for_launch_before();
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
          INT64_MAX};
}

// Lists of tuples by cell: at most one per cell, and one of skipped tuples.
inline int64_t most_lists(const ScatterNest& scatter) {
  return std::min(scatter.tuple_count, scatter.key_count + 1);
}

// One thread per piece; sized for the maximum number of cells.
inline unsigned reduce_blocks(const ScatterNest& scatter, const ReduceArgs& args) {
  return blocks_of(most_lists(scatter) * static_cast<int64_t>(args.pieces.divisor), kReduceThreads);
}

}  // namespace sheaf::cuda
