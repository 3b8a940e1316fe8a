// SPDX-License-Identifier: MIT
//
// Chains of the updates of a cell, reduced in order. A chain has its tuples in no order: a thread
// follows it, sorts the few numbers it finds, and reduces the updates as reduce.cuh does.
#pragma once

#include "backends/cuda/scatter/chained.h"
#include "backends/cuda/scatter/reduce.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

struct ChainArgs {
  ReduceArgs reduce;
  Chains chains;
};

// Batcher's odd-even merge sort: which two are compared does not depend on values. Loops of
// constant length, so that all are unrolled and the numbers stay in registers.
__device__ inline void sort_short(uint32_t (&numbers)[tuning::Chained::kShort]) {
#pragma unroll
  for (int sorted = 1; sorted < tuning::Chained::kShort; sorted *= 2) {
#pragma unroll
    for (int apart = sorted; apart > 0; apart /= 2) {
#pragma unroll
      for (int i = 0; i < tuning::Chained::kShort; ++i) {
        const int first = apart % sorted;
        const int other = i + apart;
        if (i >= first && (i - first) % (2 * apart) < apart && other < tuning::Chained::kShort &&
            i / (2 * sorted) == other / (2 * sorted)) {
          const uint32_t low = min(numbers[i], numbers[other]);
          numbers[other] = max(numbers[i], numbers[other]);
          numbers[i] = low;
        }
      }
    }
  }
}

// A thread's elements of one cell, and where those of an update are.
template <Reduction kReduction, class T, int kCount>
struct ChainPiece {
  using Group = Elements<T, kCount>;
  const AnyNest& tuples;
  const std::byte* updates;
  Group* cell;

  __device__ ChainPiece(const ReduceArgs& args, uint32_t key, int64_t number)
      : tuples(args.tuples) {
    const Piece piece(args, number, sizeof(Group));
    updates = args.updates + piece.updates;
    cell = reinterpret_cast<Group*>(args.output + args.lowest + key * args.unit + piece.output);
  }
  __device__ Group update(uint32_t tuple) const {
    return *reinterpret_cast<const Group*>(updates + locate(tuples, tuple).output);
  }

  // `numbers` ascend; behind the last is kEndOfChain.
  __device__ void reduce_short(const uint32_t (&numbers)[tuning::Chained::kShort]) const {
    auto value = accumulators<kReduction, T>(*cell, std::make_integer_sequence<int, kCount>{});
#pragma unroll
    for (int first = 0; first < tuning::Chained::kShort; first += tuning::Lists::kUpdatesAhead) {
      Group ahead[tuning::Lists::kUpdatesAhead];
#pragma unroll
      for (int i = 0; i < tuning::Lists::kUpdatesAhead; ++i) {
        if (numbers[first + i] != kEndOfChain) {
          ahead[i] = update(numbers[first + i]);
        }
      }
#pragma unroll
      for (int i = 0; i < tuning::Lists::kUpdatesAhead; ++i) {
        if (numbers[first + i] != kEndOfChain) {
          value.add(ahead[i]);
        }
      }
    }
    *cell = value.result();
  }

  __device__ void reduce(const uint32_t* numbers, int count) const {
    auto value = accumulators<kReduction, T>(*cell, std::make_integer_sequence<int, kCount>{});
    for (int i = 0; i < count; ++i) {
      value.add(update(numbers[i]));
    }
    *cell = value.result();
  }
};

// Inserts the tuples of a chain, which come in nearly descending order, from the back. Returns how
// many of `numbers`, counted from the back, are then in order; 0 if there is no room.
__device__ inline int insert_chain(const uint32_t* next, uint32_t tuple,
                                   uint32_t (&numbers)[tuning::Chained::kLongest]) {
  int count = 0;
  for (; tuple != kEndOfChain; tuple = next[tuple]) {
    if (count == tuning::Chained::kLongest) {
      return 0;
    }
    int at = tuning::Chained::kLongest - 1 - count;
    for (; at + 1 < tuning::Chained::kLongest && numbers[at + 1] < tuple; ++at) {
      numbers[at] = numbers[at + 1];
    }
    numbers[at] = tuple;
    ++count;
  }
  return count;
}

// False: too long. Not inlined, as its registers are not those of the short chains.
template <Reduction kReduction, class T, int kCount>
__device__ __noinline__ bool reduce_longer_chain(const ChainArgs& args, uint32_t head, uint32_t key,
                                                 int64_t piece) {
  uint32_t numbers[tuning::Chained::kLongest];
  const int count = insert_chain(args.chains.next, head, numbers);
  if (count > 0) {
    const ChainPiece<kReduction, T, kCount> mine(args.reduce, key, piece);
    mine.reduce(numbers + tuning::Chained::kLongest - count, count);
  }
  return count > 0;
}

// One thread per piece of a cell. All pieces of a cell decide alike whether it is left to the sort:
// by its chain, or by the mark of the first that decided.
template <Reduction kReduction, class T, int kCount>
__global__ void __launch_bounds__(tuning::Chained::kReduceThreads)
    reduce_chained_kernel(const __grid_constant__ ChainArgs args) {
  const Chains& chains = args.chains;
  if (refused(args.reduce.check) || chains.state->crowded != 0) {
    return;
  }
  const uint64_t number = uint64_t{blockIdx.x} * tuning::Chained::kReduceThreads + threadIdx.x;
  const auto key = static_cast<uint32_t>(args.reduce.pieces.quotient(number));
  if (number >= chains.cells * args.reduce.pieces.divisor) {
    return;
  }
  volatile uint32_t& slot = chains.heads[key];
  const uint32_t head = slot;
  if (head == kEndOfChain || head == kLongChain) {
    return;
  }
  const auto piece = static_cast<int64_t>(number - key * args.reduce.pieces.divisor);
  uint32_t numbers[tuning::Chained::kShort];
  uint32_t tuple = head;
#pragma unroll
  for (int i = 0; i < tuning::Chained::kShort; ++i) {
    numbers[i] = tuple;
    tuple = tuple != kEndOfChain ? chains.next[tuple] : tuple;
  }
  if (tuple == kEndOfChain) {
    sort_short(numbers);
    ChainPiece<kReduction, T, kCount>(args.reduce, key, piece).reduce_short(numbers);
  } else if (!reduce_longer_chain<kReduction, T, kCount>(args, head, key, piece)) {
    slot = kLongChain;
    chains.state->has_long = 1;
  }
}

// The types that chained_refusal() lets pass.
template <class T>
inline constexpr bool kHasChains = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> ||
                                   std::is_same_v<T, float> || std::is_same_v<T, double>;

template <Reduction kReduction>
void launch_chained(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  with_pieces<kReduction>(scatter, call, [&](auto piece, int /*word_bytes*/) {
    using P = decltype(piece);
    if constexpr (kHasChains<typename P::Type>) {
      const ChainArgs args{reduce_args(scatter, call, {}, P::kBytes), chains};
      const int64_t pieces = chains.cells * static_cast<int64_t>(args.reduce.pieces.divisor);
      reduce_chained_kernel<kReduction, typename P::Type, P::kCount>
          <<<blocks_of(pieces, tuning::Chained::kReduceThreads), tuning::Chained::kReduceThreads, 0,
             call.stream>>>(args);
    }
  });
}

}  // namespace sheaf::cuda
