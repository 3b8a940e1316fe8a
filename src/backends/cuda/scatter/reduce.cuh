// SPDX-License-Identifier: MIT
//
// The updates of cells, reduced in order. Short lists of updates: a block has the lists that begin
// in its tile of the sorted tuples; every thread has a few elements of one cell and walks its list,
// loading a few updates ahead. Long lists: reduce_long.cuh.
#pragma once

#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/scatter/accumulate.cuh"
#include "backends/cuda/scatter/sort.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

struct ReduceArgs {
  AnyNest tuples, slices;
  std::byte* output;
  const std::byte* updates;
  const Verdict* check;
  SortedTuples sorted;
  int64_t lowest, unit;
  int64_t skipped;         // the key of no cell
  WideDivisor pieces;      // of a cell: what one thread has
  WideDivisor row_pieces;  // of a row
  int64_t list_limit;      // longer lists are left to other kernels
  uint64_t many_lists;     // from this many that are not huge on, reduce_many.cuh has those
  int tile;                // tuples
  WideDivisor groups;      // of pieces: one block's
  Divisor group_pieces;
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

  __device__ List(const ReduceArgs& args, int64_t from, int64_t to) : begin(from), end(to) {
    const int64_t key = number_at(args, args.sorted.keys, begin);
    cell = args.lowest + key * args.unit;
    live = key != args.skipped;
  }
};

// A piece of a cell, by its number: byte offsets from the cell, and from a tuple's update.
struct Piece {
  int64_t output, updates;

  __device__ Piece(const ReduceArgs& args, int64_t number, int piece_bytes) {
    const auto slice =
        static_cast<int64_t>(args.row_pieces.quotient(static_cast<uint64_t>(number)));
    const int64_t column =
        (number - slice * static_cast<int64_t>(args.row_pieces.divisor)) * piece_bytes;
    const Place place = locate(args.slices, slice);
    output = place.data + column;
    updates = place.output + column;
  }
};

// Whether reduce_many.cuh has the long lists that are not huge.
__device__ inline bool has_many_lists(const ReduceArgs& args) {
  return args.sorted.long_state->others >= args.many_lists;
}

// The byte offset of the update of entry `at` of the sorted list.
__device__ inline int64_t update_of(const ReduceArgs& args, int64_t at) {
  return locate(args.tuples, number_at(args, args.sorted.tuples, at)).output;
}

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
  for (int64_t at = list.begin; at < list.end; at += tuning::Lists::kUpdatesAhead) {
    const int64_t left = list.end - at;
    Group ahead[tuning::Lists::kUpdatesAhead];
#pragma unroll
    for (int i = 0; i < tuning::Lists::kUpdatesAhead; ++i) {
      if (i < left) {
        ahead[i] = *reinterpret_cast<const Group*>(updates + update_of(args, at + i));
      }
    }
#pragma unroll
    for (int i = 0; i < tuning::Lists::kUpdatesAhead; ++i) {
      if (i < left) {
        value.add(ahead[i]);
      }
    }
  }
  *cell = value.result();
}

// What a block has: `tile` tuples from `first` on, and a group of the pieces of their cells.
struct Tile {
  int64_t first, first_piece;
  int count;

  __device__ Tile(const ReduceArgs& args, int64_t tuples) {
    const auto number = static_cast<int64_t>(args.groups.quotient(blockIdx.x));
    first = number * args.tile;
    count = static_cast<int>(max(min(int64_t{args.tile}, tuples - first), int64_t{0}));
    first_piece = (blockIdx.x - number * static_cast<int64_t>(args.groups.divisor)) *
                  args.group_pieces.divisor;
  }
};

// Where the lists of a tile begin, counted from its first tuple; followed by the end of the last.
struct Heads {
  int of_warp[tuning::Lists::kWarps];
  uint16_t at[tuning::Lists::kMostTile + 1];
};

// Where the list ends that the last tuple of a tile is in, or more than tuning::Lists::kLong tuples
// behind the tile. By one warp.
template <class Number>
__device__ int end_of_last(const Number* keys, int64_t left, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Number key = keys[count - 1];
  int end = count;
  for (; end <= count + tuning::Lists::kLong; end += 32) {
    const int at = end + lane;
    const unsigned others = __ballot_sync(~0U, at >= left || keys[at] != key);
    if (others != 0) {
      return end + __ffs(static_cast<int>(others)) - 1;
    }
  }
  return end;
}

// `keys` begin with those of the tile; there are `left` of them, and more before unless it is the
// first tile. By all threads of a block, every warp for consecutive tuples. Returns how many lists
// begin in the tile.
template <class Number>
__device__ int find_heads(const Number* keys, int64_t left, bool is_first, const Tile& tile,
                          int warp_tuples, Heads& heads) {
  constexpr int kRounds = tuning::Lists::kMostTile / kBlockThreads;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  unsigned found[kRounds];
  int count = 0;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int in_warp = round * 32 + lane;
    const int at = warp * warp_tuples + in_warp;
    const bool here = in_warp < warp_tuples && at < tile.count;
    const bool head = here && ((is_first && at == 0) || keys[at] != keys[at - 1]);
    found[round] = __ballot_sync(~0U, head);
    count += __popc(found[round]);
  }
  if (lane == 0) {
    heads.of_warp[warp] = count;
  }
  __syncthreads();
  int slot = 0, total = 0;
#pragma unroll
  for (int w = 0; w < tuning::Lists::kWarps; ++w) {
    slot += w < warp ? heads.of_warp[w] : 0;
    total += heads.of_warp[w];
  }
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    if ((found[round] >> lane & 1) != 0) {
      const unsigned before = found[round] & ((1U << lane) - 1);
      heads.at[slot + __popc(before)] =
          static_cast<uint16_t>(warp * warp_tuples + round * 32 + lane);
    }
    slot += __popc(found[round]);
  }
  if (warp == 0) {
    const int end = end_of_last(keys, left, tile.count);
    heads.at[total] = static_cast<uint16_t>(end);  // by every lane, the same
  }
  __syncthreads();
  return total;
}

__device__ inline int find_heads(const ReduceArgs& args, const Tile& tile, int64_t tuples,
                                 Heads& heads) {
  const int64_t left = tuples - tile.first;
  const int warp_tuples = args.tile / tuning::Lists::kWarps;
  const void* const keys = args.sorted.keys;
  return args.sorted.wide ? find_heads(static_cast<const uint64_t*>(keys) + tile.first, left,
                                       tile.first == 0, tile, warp_tuples, heads)
                          : find_heads(static_cast<const uint32_t*>(keys) + tile.first, left,
                                       tile.first == 0, tile, warp_tuples, heads);
}

// May begin while long lists, which are other cells, are still being reduced.
template <Reduction kReduction, class T, int kCount>
__global__ void __launch_bounds__(kBlockThreads)
    reduce_kernel(const __grid_constant__ ReduceArgs args) {
  __shared__ Heads heads;
  const int64_t tuples = args.sorted.count == nullptr ? args.tuples.points : *args.sorted.count;
  const Tile tile(args, tuples);
  if (tile.count > 0 && !refused(args.check)) {
    const uint32_t pieces = args.group_pieces.divisor;
    const uint32_t items = static_cast<uint32_t>(find_heads(args, tile, tuples, heads)) * pieces;
    for (uint32_t item = threadIdx.x; item < items; item += kBlockThreads) {
      const uint32_t number = args.group_pieces.quotient(item);
      const int64_t piece = tile.first_piece + (item - number * pieces);
      const int length = heads.at[number + 1] - heads.at[number];
      if (piece < static_cast<int64_t>(args.pieces.divisor) && length <= args.list_limit) {
        const int64_t begin = tile.first + heads.at[number];
        const List list(args, begin, begin + length);
        if (list.live) {
          reduce_list<kReduction, T, kCount>(args, list, piece);
        }
      }
    }
  }
  if (blockIdx.x == gridDim.x - 1) {  // this launch ends after the one before it
    wait_for_launch_before();
  }
}

// Large tiles have lists for all threads even if lists are long; small ones make blocks for all
// multiprocessors.
inline int tile_tuples(int64_t tuples, int64_t groups) {
  int tile = tuning::Lists::kMostTile;
  while (tile > tuning::Lists::kLeastTile &&
         ((tuples - 1) / tile + 1) * groups <
             tuning::Lists::kBlocksEach * current_device().multiprocessors) {
    tile /= 2;
  }
  return tile;
}

inline ReduceArgs reduce_args(const ScatterNest& scatter, const ScatterCall& call,
                              const SortedTuples& sorted, int64_t piece_bytes) {
  const int64_t row_pieces = scatter.tuples.row_bytes / piece_bytes;
  const int64_t pieces = row_pieces * scatter.slice_count;
  const int64_t groups = (pieces - 1) / tuning::Lists::kMostPieces + 1;
  return {device_nest<AnyNest>(scatter.tuples),
          device_nest<AnyNest>(scatter.slices),
          call.output,
          call.updates,
          call.check,
          sorted,
          scatter.lowest,
          scatter.unit,
          scatter.key_count,
          WideDivisor(static_cast<uint64_t>(pieces)),
          WideDivisor(static_cast<uint64_t>(row_pieces)),
          INT64_MAX,
          UINT64_MAX,
          tile_tuples(scatter.tuple_count, groups),
          WideDivisor(static_cast<uint64_t>(groups)),
          Divisor(static_cast<uint32_t>((pieces - 1) / groups + 1))};
}

inline unsigned reduce_blocks(const ReduceArgs& args) {
  return blocks_of(args.tuples.points, args.tile) * static_cast<unsigned>(args.groups.divisor);
}

// What a thread has of a cell.
template <class T, int kElements>
struct PieceOf {
  using Type = T;
  static constexpr int kCount = kElements;
  static constexpr int kBytes = kElements * int{sizeof(T)};
};

// Calls f(PieceOf<…>, the bytes of a word) for the pieces by which a scatter is reduced.
template <Reduction kReduction, class F>
void with_pieces(const ScatterNest& scatter, const ScatterCall& call, F f) {
  const int word = scatter_word_bytes(scatter, call);
  with_element_type(scatter.tuples.element_type, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kSelects = kReduction == Reduction::kMin || kReduction == Reduction::kMax;
    // By 16 bytes, for the types of large scatters.
    constexpr bool kWide = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                           std::is_same_v<T, int32_t> ||
                           (kReduction == Reduction::kAdd &&
                            (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>));
    if constexpr (kSelects && is_complex_v<T>) {
      return;  // validation lets none pass
    } else if constexpr (kWide) {
      if (word == 16) {
        return f(PieceOf<T, 16 / int{sizeof(T)}>{}, word);
      }
      f(PieceOf<T, 1>{}, word);
    } else {
      f(PieceOf<T, 1>{}, word);
    }
  });
}

}  // namespace sheaf::cuda
