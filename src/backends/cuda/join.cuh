// SPDX-License-Identifier: MIT
//
// Joining updates to cells: every thread has a few elements of one cell and joins to them, one
// after the other, what the cell's list says. Updates are asked for some places ahead.
#pragma once

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
  uint64_t skipped;     // the key of no cell
  WideDivisor pieces;   // of a cell: what one thread has
  uint64_t row_pieces;  // of a row
  Reduction reduction;
};

// One thread's work: a list, and the piece of its cell.
template <class Number>
struct Piece {
  int64_t begin, end;       // of the list
  int64_t output, updates;  // byte offsets; the tuple's own are to be added to `updates`
  bool live = false;

  __device__ Piece(const JoinArgs& args, int64_t number, int piece_bytes) {
    const auto* heads = static_cast<const Number*>(args.sorted.heads);
    const auto lists =
        static_cast<int64_t>(*static_cast<const unsigned long long*>(args.sorted.head_count));
    const auto list = static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
    if (list >= lists || refused(args.verdict)) {
      return;
    }
    begin = static_cast<int64_t>(heads[list]);
    end = list + 1 < lists ? static_cast<int64_t>(heads[list + 1]) : args.tuples.points;
    const auto key = static_cast<uint64_t>(static_cast<const Number*>(args.sorted.keys)[begin]);
    const int64_t piece = number - list * static_cast<int64_t>(args.pieces.divisor);
    const int64_t slice = piece / static_cast<int64_t>(args.row_pieces);
    const int64_t column = (piece - slice * static_cast<int64_t>(args.row_pieces)) * piece_bytes;
    const Place place = locate(args.slices, slice);
    output = args.lowest + static_cast<int64_t>(key) * args.unit + place.data + column;
    updates = place.output + column;
    live = key != args.skipped;
  }
};

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

template <class T, int kCount, class Number>
__global__ void __launch_bounds__(kJoinThreads) join_kernel(const __grid_constant__ JoinArgs args) {
  using Group = Elements<T, kCount>;
  const Piece<Number> piece(args, int64_t{blockIdx.x} * kJoinThreads + threadIdx.x, sizeof(Group));
  if (!piece.live) {
    return;
  }
  const auto* tuples = static_cast<const Number*>(args.sorted.tuples);
  const std::byte* updates = args.updates + piece.updates;
  auto* const cell = reinterpret_cast<Group*>(args.output + piece.output);
  const auto update_of = [&](int64_t at) {
    return *reinterpret_cast<const Group*>(
        updates + locate(args.tuples, static_cast<int64_t>(tuples[at])).output);
  };
  Group value = *cell;
  int64_t at = piece.begin;
  for (; at + kUpdatesAhead <= piece.end; at += kUpdatesAhead) {
    Group ahead[kUpdatesAhead];
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      ahead[i] = update_of(at + i);
    }
#pragma unroll
    for (int i = 0; i < kUpdatesAhead; ++i) {
      join_elements(args.reduction, value, ahead[i]);
    }
  }
  for (; at < piece.end; ++at) {
    join_elements(args.reduction, value, update_of(at));
  }
  *cell = value;
}

inline JoinArgs join_args(const ScatterNest& scatter, const ScatterCall& call,
                          const SortedTuples& sorted, int64_t piece_bytes) {
  const auto row_pieces = static_cast<uint64_t>(scatter.tuples.row_bytes / piece_bytes);
  return {device_nest<AnyNest>(scatter.tuples),
          device_nest<AnyNest>(scatter.slices),
          call.output,
          call.updates,
          call.verdict,
          sorted,
          scatter.lowest,
          scatter.unit,
          static_cast<uint64_t>(scatter.key_count),
          WideDivisor(row_pieces * static_cast<uint64_t>(scatter.slice_count)),
          row_pieces,
          scatter.tuples.reduction};
}

// One thread a piece of as many cells as there can be.
inline unsigned join_blocks(const ScatterNest& scatter, const JoinArgs& args) {
  const int64_t lists = std::min(scatter.tuple_count, scatter.key_count + 1);
  return static_cast<unsigned>(
      (lists * static_cast<int64_t>(args.pieces.divisor) - 1) / kJoinThreads + 1);
}

template <class T, int kCount>
void launch_join_of(const ScatterNest& scatter, const ScatterCall& call,
                    const SortedTuples& sorted) {
  const JoinArgs args = join_args(scatter, call, sorted, sizeof(Elements<T, kCount>));
  const unsigned blocks = join_blocks(scatter, args);
  if (scatter.wide()) {
    join_kernel<T, kCount, uint64_t><<<blocks, kJoinThreads, 0, call.stream>>>(args);
  } else {
    join_kernel<T, kCount, uint32_t><<<blocks, kJoinThreads, 0, call.stream>>>(args);
  }
}

}  // namespace sheaf::cuda
