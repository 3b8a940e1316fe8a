// SPDX-License-Identifier: MIT
//
// How a block of threads moves a part of the output: the words of all rows, one after the other,
// are distributed over the threads, whatever the size of a row. Every thread has several loads in
// flight.
#pragma once

#include "backends/cuda/gather/gather.h"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

template <int kBytes>
inline constexpr int kTileWords = kBlockThreads* tuning::Rows::kWordsInFlight<kBytes>;

// The arguments of a gather kernel.
template <class DeviceNest>
struct GatherArgs {
  DeviceNest nest;
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* check;
  Verdict* report;
  int64_t words;           // of the whole output
  WideDivisor row_words;   // of one row
  Divisor near_row_words;  // the same, for words of one tile
  bool near_rows;          // several rows may meet in a tile: rows have less than 2^30 words
  bool dense;              // the output's rows follow one another

  GatherArgs(const GatherCall& call, int word_bytes)
      : nest(device_nest<DeviceNest>(call.nest)),
        data(call.data),
        indices(call.indices),
        output(call.output),
        check(call.check),
        report(call.report),
        words(nest.points * (nest.row_bytes / word_bytes)),
        row_words(static_cast<uint64_t>(nest.row_bytes / word_bytes)),
        near_rows(row_words.divisor < (uint64_t{1} << 30)),
        dense(is_dense(call.nest)) {
    near_row_words = Divisor(near_rows ? static_cast<uint32_t>(row_words.divisor) : 1);
    nest.pairs = reads_pairs(call);
  }

  static bool reads_pairs(const GatherCall& call) {
    const auto& coordinates = call.nest.coordinates;
    return coordinates.size() == 2 && call.nest.loops.size() == 1 && coordinates[0].offset == 0 &&
           coordinates[1].offset == 1 && call.nest.loops[0].index % 2 == 0 &&
           reinterpret_cast<uintptr_t>(call.indices) % 16 == 0;
  }

  static bool is_dense(const Nest& nest) {
    int64_t next = nest.row_bytes;
    for (int l = nest.loops.size() - 1; l >= 0; --l) {
      if (nest.loops[l].output != next) {
        return false;
      }
      next *= nest.loops[l].extent;
    }
    return true;
  }
};

// The tile of a block, and the part of it that a thread has.
template <int kBytes, class DeviceNest>
struct Tile {
  const GatherArgs<DeviceNest>& args;
  int64_t first;      // word
  int64_t first_row;  // that this word belongs to
  uint32_t skipped;   // words of that row before it; a row of more has but one in a tile
  uint32_t live;      // words of the tile
  int64_t far_skipped;

  __device__ Tile(const GatherArgs<DeviceNest>& gather, int64_t number)
      : args(gather), first(number * kTileWords<kBytes>) {
    first_row = static_cast<int64_t>(args.row_words.quotient(static_cast<uint64_t>(first)));
    far_skipped = first - first_row * static_cast<int64_t>(args.row_words.divisor);
    skipped = static_cast<uint32_t>(far_skipped);
    const int64_t left = args.words - first;
    live = left < kTileWords<kBytes> ? static_cast<uint32_t>(left) : kTileWords<kBytes>;
  }

  // Word `number` of the tile: how many rows below the first, and how far into its row.
  struct Word {
    uint32_t down;
    int64_t column;
  };
  __device__ Word word(uint32_t number) const {
    if (args.near_rows) {
      const uint32_t down = args.near_row_words.quotient(skipped + number);
      return {down, int64_t{skipped + number - down * args.near_row_words.divisor} * kBytes};
    }
    const int64_t row_words = static_cast<int64_t>(args.row_words.divisor);
    const int64_t at = far_skipped + number;
    return at < row_words ? Word{0, at * kBytes} : Word{1, (at - row_words) * kBytes};
  }

  __device__ std::byte* output(uint32_t number) const {
    if (args.dense) {
      return args.output + (first + number) * kBytes;
    }
    const Word at = word(number);
    return args.output + locate(args.nest, first_row + at.down).output + at.column;
  }
};

// Places are computed twice rather than kept: this takes fewer registers.
template <int kBytes, Indices kIndices, class DeviceNest>
__device__ void move_tile(const GatherArgs<DeviceNest>& args, int64_t number, bool stop) {
  constexpr int kCount = tuning::Rows::kWordsInFlight<kBytes>;
  const Tile<kBytes, DeviceNest> tile(args, number);
  int64_t tuple[kCount], at[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const auto word = tile.word(threadIdx.x + i * kBlockThreads);
    const Place place = locate(args.nest, tile.first_row + word.down);
    tuple[i] = place.index;
    at[i] = threadIdx.x + i * kBlockThreads < tile.live ? place.data + word.column : kNowhere;
  }
  resolve_tuples<kIndices>(args.nest, args.indices, tuple, at);
  Word<kBytes> words[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (at[i] != kNowhere) {
      words[i] = load<Word<kBytes>>(args.data + at[i]);
    }
  }
  if (stop) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const uint32_t mine = threadIdx.x + i * kBlockThreads;
    if (mine < tile.live) {
      if (at[i] == kNowhere) {
        words[i] = outside_word<kBytes>(args.nest, args.report, tile.word(mine).column);
      }
      store_streaming(tile.output(mine), words[i]);
    }
  }
}

}  // namespace sheaf::cuda
