// SPDX-License-Identifier: MIT
//
// Rows of 16 bytes and more whose size, strides or addresses are no multiples of a wide word. The
// output is written by aligned words of 16 bytes, each put together from aligned words of one row,
// or of the end of one and the beginning of the next.
#include "backends/cuda/move_rows.cuh"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

constexpr int kInFlight = 2;  // words of a thread
constexpr int kTileBytes = kBlockThreads * kInFlight * 16;
constexpr int64_t kLeastRow = 16;
constexpr int64_t kMostRow = int64_t{1} << 30;

struct OddArgs {
  GatherArgs<AnyNest> rows;
  ReadableBytes data;  // words that leave it are read byte by byte
  int64_t bytes;       // of the output
  int ahead;           // of the output's first byte in its aligned word
  WideDivisor row_bytes;
  Divisor near_row_bytes;
};

struct TwoWords {
  uint4 words[2];
};

// At the edges of data: bytes [first, last) from `from` on, as if aligned words had been read. By
// value, so that what calls it stays in registers.
__device__ __noinline__ TwoWords words_by_bytes(const std::byte* from, int first, int last) {
  union {
    TwoWords both;
    std::byte bytes[32];
  } read = {};
  const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
  for (int i = first; i < last; ++i) {
    read.bytes[shift + i] = from[i];
  }
  return read.both;
}

// Part of an output word: bytes [first, last) of it are those at from + first and on.
struct Part {
  const std::byte* from;
  int first, last;
  uint4 low, high;  // the aligned words that hold it

  __device__ uintptr_t word() const { return reinterpret_cast<uintptr_t>(from) & ~uintptr_t{15}; }
  __device__ int shift() const { return static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15); }

  __device__ void load(const ReadableBytes& data) {
    const uintptr_t at = word();
    const bool needs_low = shift() + first < 16;
    const bool needs_high = shift() + last > 16;
    const auto begin = reinterpret_cast<uintptr_t>(data.begin);
    const auto end = reinterpret_cast<uintptr_t>(data.end);
    low = high = make_uint4(0, 0, 0, 0);
    if ((needs_low && at < begin) || (needs_high ? at + 32 : at + 16) > end ||
        (!needs_low && at + 16 < begin)) {
      const TwoWords both = words_by_bytes(from, first, last);
      low = both.words[0];
      high = both.words[1];
      return;
    }
    if (needs_low) {
      low = cuda::load<uint4>(reinterpret_cast<const std::byte*>(at));
    }
    if (needs_high) {
      high = cuda::load<uint4>(reinterpret_cast<const std::byte*>(at + 16));
    }
  }

  // The 16 bytes from `from` on, as far as they were loaded.
  __device__ uint4 shifted() const {
    uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    const int bytes = shift();
    if ((bytes & 8) != 0) {
#pragma unroll
      for (int i = 0; i < 6; ++i) {
        words[i] = words[i + 2];
      }
    }
    if ((bytes & 4) != 0) {
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        words[i] = words[i + 1];
      }
    }
    const auto bits = static_cast<uint32_t>(bytes & 3) * 8;
    return make_uint4(
        __funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
        __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
  }
};

// Bytes [0, count) of one word, the others of the second.
__device__ uint4 joined(const uint4& one, const uint4& other, int count) {
  const auto pick = [&](uint32_t a, uint32_t b, int at) {
    const int bytes = min(max(count - at, 0), 4);
    const uint32_t mask = bytes == 4 ? ~0U : (1U << (8 * bytes)) - 1;
    return (a & mask) | (b & ~mask);
  };
  return make_uint4(pick(one.x, other.x, 0), pick(one.y, other.y, 4), pick(one.z, other.z, 8),
                    pick(one.w, other.w, 12));
}

// Where the rows of a tile are; kNowhere: filled.
struct OddTile {
  int64_t first_row, first_byte;  // of the tile; the row's first byte

  __device__ OddTile(const OddArgs& args, int64_t number) {
    const int64_t at = max(number * kTileBytes - args.ahead, int64_t{0});
    first_row = static_cast<int64_t>(args.row_bytes.quotient(static_cast<uint64_t>(at)));
    first_byte = first_row * static_cast<int64_t>(args.row_bytes.divisor);
  }
};

// `word` with bytes [first, last) filled, which begin at `column` of their row.
__device__ __noinline__ uint4 filled(const OddArgs& args, uint4 word, int first, int last,
                                     int64_t column) {
  if (args.rows.report != nullptr) {
    args.rows.report->met = 1;
  }
  auto* const bytes = reinterpret_cast<std::byte*>(&word);
  for (int i = first; i < last; ++i) {
    bytes[i] = args.rows.nest.fill_value[(column + i - first) % args.rows.nest.element_bytes];
  }
  return word;
}

__device__ __noinline__ void store_bytes(std::byte* to, uint4 word, int first, int last) {
  for (int i = first; i < last; ++i) {
    to[i] = reinterpret_cast<const std::byte*>(&word)[i];
  }
}

__global__ void __launch_bounds__(kBlockThreads, 4)
    odd_rows_kernel(const __grid_constant__ OddArgs args) {
  __shared__ int64_t places[kTileBytes / kLeastRow + 2];
  const bool stop = refused(args.rows.check);
  const AnyNest& nest = args.rows.nest;
  const auto row_bytes = static_cast<uint32_t>(args.near_row_bytes.divisor);
  const OddTile tile(args, blockIdx.x);
  const int64_t begin = int64_t{blockIdx.x} * kTileBytes - args.ahead;
  const int64_t end = min(begin + kTileBytes, args.bytes);
  const auto rows = static_cast<int>(
      args.near_row_bytes.quotient(static_cast<uint32_t>(end - 1 - tile.first_byte)) + 1);
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += kBlockThreads) {
    const Place place = locate(nest, tile.first_row + row);
    const int64_t tuple[1] = {place.index};
    int64_t at[1] = {place.data};
    resolve_tuples<Indices::kAnyType>(nest, args.rows.indices, tuple, at);
    places[row] = at[0];
  }
  __syncthreads();
  Part parts[kInFlight][2];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int64_t at = begin + (static_cast<int>(threadIdx.x) + i * kBlockThreads) * 16;
    const int first = static_cast<int>(max(-at, int64_t{0}));
    const int last = static_cast<int>(min(args.bytes - at, int64_t{16}));
    parts[i][0].last = parts[i][1].last = 0;
    if (first < last) {
      const auto inside = static_cast<uint32_t>(at + first - tile.first_byte);
      const uint32_t down = args.near_row_bytes.quotient(inside);
      const uint32_t column = inside - down * row_bytes;
      const int middle =
          static_cast<int>(min(static_cast<uint32_t>(last - first), row_bytes - column)) + first;
      parts[i][0] = {args.rows.data + places[down] + column - first, first, middle, {}, {}};
      if (places[down] != kNowhere) {
        parts[i][0].load(args.data);
      }
      if (middle < last) {
        parts[i][1] = {args.rows.data + places[down + 1] - middle, middle, last, {}, {}};
        if (places[down + 1] != kNowhere) {
          parts[i][1].load(args.data);
        }
      }
    }
  }
  if (stop) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const Part& one = parts[i][0];
    if (one.last == 0) {
      continue;
    }
    const int64_t at = begin + (static_cast<int>(threadIdx.x) + i * kBlockThreads) * 16;
    const bool two = parts[i][1].last != 0;
    const int last = two ? parts[i][1].last : one.last;
    uint4 word = one.shifted();
    if (two) {
      word = joined(word, parts[i][1].shifted(), one.last);
    }
    const auto inside = static_cast<uint32_t>(at + one.first - tile.first_byte);
    const uint32_t down = args.near_row_bytes.quotient(inside);
    if (places[down] == kNowhere) {
      word = filled(args, word, one.first, one.last, inside - down * row_bytes);
    }
    if (two && places[down + 1] == kNowhere) {
      word = filled(args, word, one.last, last, 0);
    }
    if (one.first == 0 && last == 16) {
      store_streaming(args.rows.output + at, word);
    } else {
      store_bytes(args.rows.output + at, word, one.first, last);
    }
  }
}

}  // namespace

bool pays_odd_rows(const GatherCall& call) {
  return call.readable.begin != nullptr && call.nest.row_bytes >= kLeastRow &&
         call.nest.row_bytes < kMostRow && word_bytes(call.nest, addresses_of(call)) <= 4 &&
         GatherArgs<AnyNest>::is_dense(call.nest);
}

void launch_odd_rows(const GatherCall& call) {
  const int64_t bytes = point_count(call.nest) * call.nest.row_bytes;
  const OddArgs args{GatherArgs<AnyNest>(call, 1),
                     call.readable,
                     bytes,
                     static_cast<int>(reinterpret_cast<uintptr_t>(call.output) % 16),
                     WideDivisor(static_cast<uint64_t>(call.nest.row_bytes)),
                     Divisor(static_cast<uint32_t>(call.nest.row_bytes))};
  const unsigned blocks = blocks_of(bytes + args.ahead, kTileBytes);
  odd_rows_kernel<<<blocks, kBlockThreads, 0, call.stream>>>(args);
}

}  // namespace sheaf::cuda
