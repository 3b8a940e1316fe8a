// SPDX-License-Identifier: MIT
//
// cuda.odd_rows: rows whose size, strides or addresses are not multiples of a wide word. The
// aligned words of 16 bytes that hold a tile's rows are copied to shared memory once, without
// passing through registers. From there every aligned word of the output is assembled: from one
// row, from the end of one and the beginning of the next, or, where rows are short, from several.
#include <algorithm>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/kernel/pipeline.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::OddRows;

constexpr int kFilled = INT_MIN;

struct OddArgs {
  GatherArgs<AnyNest> rows;
  struct {
    const std::byte *begin, *end;
  } data;          // words that reach beyond it are read byte by byte
  int64_t bytes;   // of the output
  int ahead;       // of the output's first byte in its aligned word
  int tile_bytes;  // of the output that a block writes; a multiple of kWordBytes
  int row_words;   // the most aligned words that the part of a row in a tile takes
  WideDivisor row_bytes;
  Divisor near_row_bytes, near_row_words;
};

// What a block writes: bytes [begin, end) of the output, the first of which belongs to first_row.
struct OddTile {
  int64_t begin, end;
  int64_t first_row;
  int64_t first_byte;  // of first_row: at or before begin
  int rows;            // that have bytes in the tile

  __device__ OddTile(const OddArgs& args, int64_t number) {
    const int64_t start = number * args.tile_bytes - args.ahead;
    begin = max(start, int64_t{0});
    end = min(start + args.tile_bytes, args.bytes);
    first_row = static_cast<int64_t>(args.row_bytes.quotient(static_cast<uint64_t>(begin)));
    first_byte = first_row * static_cast<int64_t>(args.row_bytes.divisor);
    rows = static_cast<int>(
        args.near_row_bytes.quotient(static_cast<uint32_t>(end - 1 - first_byte)) + 1);
  }
};

// The part of a row that is in a tile: `count` bytes from `column` on.
struct Stretch {
  int64_t column;
  int count;
  int stage;  // byte of shared memory at which its aligned words begin

  // Stages do not overlap: n bytes lie in at most n / 16 + 2 aligned words, and the next stage
  // begins at least that many further on.
  __device__ Stretch(const OddArgs& args, const OddTile& tile, int row) {
    const auto row_bytes = static_cast<int64_t>(args.row_bytes.divisor);
    const int64_t row_begin = tile.first_byte + row * row_bytes;
    const int64_t first = max(row_begin, tile.begin);
    column = first - row_begin;
    count = static_cast<int>(min(row_begin + row_bytes, tile.end) - first);
    stage = static_cast<int>(first - tile.begin) / kWordBytes * kWordBytes + 2 * kWordBytes * row;
  }
};

// At the edges of data: the bytes of a stretch in one aligned word, one by one.
__device__ __noinline__ void stage_bytes(std::byte* to, const std::byte* word,
                                         const std::byte* first, const std::byte* last) {
  for (int i = 0; i < kWordBytes; ++i) {
    if (word + i >= first && word + i < last) {
      to[i] = word[i];
    }
  }
}

// Finds the tile's rows. `sources` gets, by row, where in shared memory its first byte is, or would
// be if the tile had it.
__device__ void find_rows(const OddArgs& args, const OddTile& tile, int64_t* places, int* sources) {
  const AnyNest& nest = args.rows.nest;
  for (int row = static_cast<int>(threadIdx.x); row < tile.rows; row += kBlockThreads) {
    const Place place = locate(nest, tile.first_row + row);
    const int64_t tuple[1] = {place.index};
    int64_t at[1] = {place.data};
    resolve_tuples<Indices::kAnyType>(nest, args.rows.indices, tuple, at);
    const Stretch stretch(args, tile, row);
    const uintptr_t address = reinterpret_cast<uintptr_t>(args.rows.data) +
                              static_cast<uintptr_t>(at[0] + stretch.column);
    places[row] = at[0];
    sources[row] = at[0] == kNowhere ? kFilled
                                     : stretch.stage + static_cast<int>(address % kWordBytes) -
                                           static_cast<int>(stretch.column);
  }
}

__device__ void stage_rows(const OddArgs& args, const OddTile& tile, const int64_t* places,
                           std::byte* stage) {
  const auto words = static_cast<uint32_t>(tile.rows * args.row_words);
  for (uint32_t number = threadIdx.x; number < words; number += kBlockThreads) {
    const uint32_t row = args.near_row_words.quotient(number);
    const auto word = static_cast<int>(number - row * args.near_row_words.divisor);
    if (places[row] == kNowhere) {
      continue;
    }
    const Stretch stretch(args, tile, static_cast<int>(row));
    const std::byte* first = args.rows.data + places[row] + stretch.column;
    const std::byte* last = first + stretch.count;
    const std::byte* from =
        first - reinterpret_cast<uintptr_t>(first) % kWordBytes + int64_t{word} * kWordBytes;
    if (from < last) {
      std::byte* const to = stage + stretch.stage + word * kWordBytes;
      if (from >= args.data.begin && args.data.end - from >= kWordBytes) {
        copy_async<kWordBytes>(to, from);
      } else {
        stage_bytes(to, from, first, last);
      }
    }
  }
  wait_for_copies();
}

// 16 bytes of shared memory, at any alignment.
__device__ uint4 staged(const std::byte* stage, int from) {
  const auto* const aligned = reinterpret_cast<const uint4*>(stage + (from & ~(kWordBytes - 1)));
  const uint4 low = aligned[0], high = aligned[1];
  uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if ((from & 8) != 0) {
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      words[i] = words[i + 2];
    }
  }
  if ((from & 4) != 0) {
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      words[i] = words[i + 1];
    }
  }
  const auto bits = static_cast<uint32_t>(from & 3) * 8;
  return make_uint4(
      __funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
      __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
}

// Bytes [0, count) of `one`, the rest of `other`.
__device__ uint4 joined(const uint4& one, const uint4& other, int count) {
  const auto pick = [&](uint32_t a, uint32_t b, int at) {
    const int bytes = min(max(count - at, 0), 4);
    const uint32_t mask = bytes == 4 ? ~0U : (1U << (8 * bytes)) - 1;
    return (a & mask) | (b & ~mask);
  };
  return make_uint4(pick(one.x, other.x, 0), pick(one.y, other.y, 4), pick(one.z, other.z, 8),
                    pick(one.w, other.w, 12));
}

// A word whose bytes are those of a filled row, `column` being where byte 0 would stand in it.
__device__ __noinline__ uint4 filled(const OddArgs& args, int column) {
  if (args.rows.report != nullptr) {
    args.rows.report->met = 1;
  }
  const auto element = static_cast<int>(args.rows.nest.element_bytes);
  uint32_t words[4] = {};
  for (int i = 0; i < kWordBytes; ++i) {
    const int at = ((column + i) % element + element) % element;
    words[i / 4] |= static_cast<uint32_t>(args.rows.nest.fill_value[at]) << (i % 4 * 8);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __noinline__ void store_bytes(std::byte* to, uint4 word, int first, int last) {
  const uint32_t words[4] = {word.x, word.y, word.z, word.w};
  for (int i = first; i < last; ++i) {
    to[i] = static_cast<std::byte>(words[i / 4] >> (i % 4 * 8));
  }
}

// The word of row `row` whose byte 0 stands at `column`, which may lie before or after the row.
__device__ uint4 row_word(const OddArgs& args, const int* sources, const std::byte* stage, int row,
                          int column) {
  return sources[row] == kFilled ? filled(args, column) : staged(stage, sources[row] + column);
}

__device__ void write_words(const OddArgs& args, const OddTile& tile, int64_t start,
                            const int* sources, const std::byte* stage) {
  const auto row_bytes = static_cast<int>(args.near_row_bytes.divisor);
  for (int byte = static_cast<int>(threadIdx.x) * kWordBytes; byte < args.tile_bytes;
       byte += kBlockThreads * kWordBytes) {
    const int64_t at = start + byte;
    const int first = static_cast<int>(max(-at, int64_t{0}));
    const int last = static_cast<int>(min(args.bytes - at, int64_t{kWordBytes}));
    if (first >= last) {
      continue;
    }
    const auto inside = static_cast<uint32_t>(at + first - tile.first_byte);
    auto row = static_cast<int>(args.near_row_bytes.quotient(inside));
    const int column = static_cast<int>(inside) - row * row_bytes - first;  // of byte 0
    uint4 word = row_word(args, sources, stage, row, column);
    for (int met = row_bytes - column; met < last; met += row_bytes) {
      ++row;
      word = joined(word, row_word(args, sources, stage, row, -met), met);
    }
    if (first == 0 && last == kWordBytes) {
      store_streaming(args.rows.output + at, word);
    } else {
      store_bytes(args.rows.output + at, word, first, last);
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads, Tuning::kBlocks)
    odd_rows_kernel(const __grid_constant__ OddArgs args) {
  extern __shared__ uint4 odd_memory[];
  __shared__ int64_t places[Tuning::kMostRows];
  __shared__ int sources[Tuning::kMostRows];
  // A word before and one after: a word of the output may begin before a row, or end after it.
  std::byte* const stage = reinterpret_cast<std::byte*>(odd_memory + 1);
  const bool stop = refused(args.rows.check);
  const OddTile tile(args, blockIdx.x);
  find_rows(args, tile, places, sources);
  __syncthreads();
  stage_rows(args, tile, places, stage);
  __syncthreads();
  if (!stop) {
    write_words(args, tile, int64_t{blockIdx.x} * args.tile_bytes - args.ahead, sources, stage);
  }
}

// The most rows that a tile can have bytes of.
int64_t rows_of_tile(int64_t tile_bytes, int64_t row_bytes) {
  return (tile_bytes - 1) / row_bytes + 2;
}

int64_t stage_bytes(int64_t tile_bytes, int64_t row_bytes) {
  return tile_bytes + 2 * kWordBytes * rows_of_tile(tile_bytes, row_bytes) + 2 * kWordBytes;
}

// Bytes of the output per block: as many as shared memory has room for.
int64_t tile_bytes_for(int64_t row_bytes) {
  constexpr int64_t kStep = kBlockThreads / 8 * kWordBytes;
  int64_t tile = kStep;
  while (stage_bytes(tile + kStep, row_bytes) <= Tuning::kStageBytes &&
         rows_of_tile(tile + kStep, row_bytes) <= Tuning::kMostRows) {
    tile += kStep;
  }
  return tile;
}

}  // namespace

const char* odd_rows_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (query.plan == nullptr || !GatherArgs<AnyNest>::is_dense(nest)) {
    return "the output's rows do not follow one another";
  }
  if (nest.row_bytes >= Tuning::kMostRow) {
    return "rows of 1 GiB or more";
  }
  const int word = word_bytes(nest, query.addresses);
  if (word > 4 || nest.row_bytes < Tuning::kLeastWords * word) {
    return "rows of wide words, or of very few";
  }
  return fits_launch(point_count(nest) * nest.row_bytes + kWordBytes,
                     tile_bytes_for(nest.row_bytes))
             ? nullptr
             : "more blocks than one launch can have";
}

bool run_odd_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  const GatherCall call = gather_call(nest, buffers, launch);
  const ByteRange& range = launch.plan->ranges().data;
  const int64_t row_bytes = nest.row_bytes;
  const int64_t bytes = point_count(nest) * row_bytes;
  const int64_t tile = tile_bytes_for(row_bytes);
  const auto row_words =
      static_cast<int>((std::min(row_bytes, tile) + 2 * kWordBytes - 2) / kWordBytes);
  const OddArgs args{GatherArgs<AnyNest>(call, 1),
                     {call.data + range.lo, call.data + range.hi},
                     bytes,
                     static_cast<int>(reinterpret_cast<uintptr_t>(call.output) % kWordBytes),
                     static_cast<int>(tile),
                     row_words,
                     WideDivisor(static_cast<uint64_t>(row_bytes)),
                     Divisor(static_cast<uint32_t>(row_bytes)),
                     Divisor(static_cast<uint32_t>(row_words))};
  const unsigned blocks = blocks_of(bytes + args.ahead, tile);
  const auto shared = static_cast<size_t>(stage_bytes(tile, row_bytes));
  odd_rows_kernel<<<blocks, kBlockThreads, shared, call.stream>>>(args);
  return true;
}

}  // namespace sheaf::cuda
