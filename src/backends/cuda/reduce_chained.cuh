// SPDX-License-Identifier: MIT
//
// Chains of the updates of a cell, reduced in order. A chain has its tuples in no order: a thread
// follows it, sorts the few numbers it finds, and reduces the updates as reduce.cuh does.
#pragma once

#include "backends/cuda/reduce.cuh"
#include "backends/cuda/scatter_chained.h"

namespace sheaf::cuda {

inline constexpr int kChainThreads = 128;
inline constexpr int kShortChain = 16;  // sorted in registers

struct ChainArgs {
  ReduceArgs reduce;
  Chains chains;
};

// Batcher's odd-even merge sort: which two are compared depends on no value. Loops of constant
// length, so that all are unrolled and the numbers stay in registers.
__device__ inline void sort_short(uint32_t (&numbers)[kShortChain]) {
#pragma unroll
  for (int sorted = 1; sorted < kShortChain; sorted *= 2) {
#pragma unroll
    for (int apart = sorted; apart > 0; apart /= 2) {
#pragma unroll
      for (int i = 0; i < kShortChain; ++i) {
        const int first = apart % sorted;
        const int other = i + apart;
        if (i >= first && (i - first) % (2 * apart) < apart && other < kShortChain &&
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
  __device__ void reduce_short(const uint32_t (&numbers)[kShortChain]) const {
    auto value = accumulators<kReduction, T>(*cell, std::make_integer_sequence<int, kCount>{});
#pragma unroll
    for (int first = 0; first < kShortChain; first += kUpdatesAhead) {
      Group ahead[kUpdatesAhead];
#pragma unroll
      for (int i = 0; i < kUpdatesAhead; ++i) {
        if (numbers[first + i] != kEndOfChain) {
          ahead[i] = update(numbers[first + i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kUpdatesAhead; ++i) {
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
                                   uint32_t (&numbers)[kLongestChain]) {
  int count = 0;
  for (; tuple != kEndOfChain; tuple = next[tuple]) {
    if (count == kLongestChain) {
      return 0;
    }
    int at = kLongestChain - 1 - count;
    for (; at + 1 < kLongestChain && numbers[at + 1] < tuple; ++at) {
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
  uint32_t numbers[kLongestChain];
  const int count = insert_chain(args.chains.next, head, numbers);
  if (count > 0) {
    const ChainPiece<kReduction, T, kCount> mine(args.reduce, key, piece);
    mine.reduce(numbers + kLongestChain - count, count);
  }
  return count > 0;
}

// A thread for each piece of each cell. All pieces of a cell decide alike whether it is left to the
// sort, whether they see its chain or that another has decided.
template <Reduction kReduction, class T, int kCount>
__global__ void __launch_bounds__(kChainThreads)
    reduce_chained_kernel(const __grid_constant__ ChainArgs args) {
  const Chains& chains = args.chains;
  if (refused(args.reduce.check) || chains.state->crowded != 0) {
    return;
  }
  const uint64_t number = uint64_t{blockIdx.x} * kChainThreads + threadIdx.x;
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
  uint32_t numbers[kShortChain];
  uint32_t tuple = head;
#pragma unroll
  for (int i = 0; i < kShortChain; ++i) {
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
          <<<blocks_of(pieces, kChainThreads), kChainThreads, 0, call.stream>>>(args);
    }
  });
}

}  // namespace sheaf::cuda
