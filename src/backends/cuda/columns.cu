// SPDX-License-Identifier: MIT
//
// Indices that choose among rows, column by column (gather_elements along an outer axis): random
// single elements of a large table. They are taken strip by strip, narrow enough for the strip's
// part of the table to stay in L2, which is filled by long reads one strip ahead.
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kRowsInFlight = 8;

struct ColumnsArgs {
  AnyNest outer;  // the loops outside rows and columns; the rule and the coordinate
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* verdict;
  Loop columns, rows;
  uint32_t width;      // columns of a strip; a divisor of kBlockThreads
  WideDivisor strips;  // of one outer point
  WideDivisor chunks;  // of one strip: as many rows as a block has under way
  bool can_ask;        // a strip's rows can be asked for ahead
};

__device__ void ask_for(const std::byte* memory, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(memory), "r"(bytes));
#else
  for (uint32_t at = 0; at < bytes; at += 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(memory + at));
  }
#endif
}

// Each chunk asks for its share of the rows of the next strip, if that is a whole one.
__device__ void ask_for_next_strip(const ColumnsArgs& args, const std::byte* data, int64_t strip,
                                   int64_t chunk) {
  if ((strip + 2) * args.width > args.columns.extent) {
    return;
  }
  const DeviceCoordinate& entries = args.outer.coordinates[0];
  const auto chunks = static_cast<int64_t>(args.chunks.divisor);
  const int64_t share = (entries.extent + chunks - 1) / chunks;
  const int64_t end = min(entries.extent, (chunk + 1) * share);
  const int64_t bytes = args.width * args.columns.data;
  for (int64_t row = chunk * share + threadIdx.x; row < end; row += kBlockThreads) {
    ask_for(data + (strip + 1) * bytes + row * entries.stride, static_cast<uint32_t>(bytes));
  }
}

template <int kBytes, Indices kIndices>
__global__ void __launch_bounds__(kBlockThreads)
    columns_kernel(const __grid_constant__ ColumnsArgs args) {
  const bool stop = refused(args.verdict);
  const auto strip_number = static_cast<int64_t>(args.chunks.quotient(blockIdx.x));
  const int64_t chunk = blockIdx.x - strip_number * static_cast<int64_t>(args.chunks.divisor);
  const auto outer =
      static_cast<int64_t>(args.strips.quotient(static_cast<uint64_t>(strip_number)));
  const int64_t strip = strip_number - outer * static_cast<int64_t>(args.strips.divisor);
  const Place place = locate(args.outer, outer);
  const DeviceCoordinate& entries = args.outer.coordinates[0];
  if (args.can_ask) {
    ask_for_next_strip(args, args.data + place.data, strip, chunk);
  }
  const uint32_t side = kBlockThreads / args.width;  // rows that the block has side by side
  const int64_t column = strip * args.width + threadIdx.x % args.width;
  const int64_t row = chunk * (side * kRowsInFlight) + threadIdx.x / args.width;
  const int64_t index =
      place.index + entries.offset + row * args.rows.index + column * args.columns.index;
  const std::byte* data = args.data + place.data + column * kBytes;
  const bool in_strip = column < args.columns.extent;
  int64_t raw[kRowsInFlight];
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i) {
    if (in_strip && row + i * side < args.rows.extent) {
      raw[i] = load_raw_once<kIndices>(args.indices, index + i * side * args.rows.index);
    }
  }
  Word<kBytes> words[kRowsInFlight];
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i) {
    if (in_strip && row + i * side < args.rows.extent) {
      const int64_t entry = entry_of(args.outer, raw[i], entries.extent);
      words[i] = entry != kOutside ? load<Word<kBytes>>(data + entry * entries.stride)
                                   : fill_word<kBytes>(args.outer, 0);
    }
  }
  std::byte* output = args.output + place.output + row * args.rows.output + column * kBytes;
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i) {
    if (!stop && in_strip && row + i * side < args.rows.extent) {
      store_streaming(output + i * side * args.rows.output, words[i]);
    }
  }
}

ColumnsArgs columns_args(const GatherCall& call, int64_t width) {
  Nest outer = call.nest;
  const Loop columns = outer.loops.back();
  outer.loops.pop_back();
  const Loop rows = outer.loops.back();
  outer.loops.pop_back();
  ColumnsArgs args{device_nest<AnyNest>(outer),
                   call.data,
                   call.indices,
                   call.output,
                   call.verdict,
                   columns,
                   rows,
                   static_cast<uint32_t>(width),
                   {},
                   {},
                   false};
  const int64_t chunk = kBlockThreads / width * kRowsInFlight;
  args.strips = WideDivisor(static_cast<uint64_t>((columns.extent - 1) / width + 1));
  args.chunks = WideDivisor(static_cast<uint64_t>((rows.extent - 1) / chunk + 1));
  auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(call.data)) |
              static_cast<uint64_t>(outer.coordinates[0].stride) |
              static_cast<uint64_t>(width * columns.data);
  for (const Loop& loop : outer.loops) {
    bits |= static_cast<uint64_t>(loop.data);
  }
  args.can_ask = bits % 16 == 0;
  return args;
}

}  // namespace

void launch_columns(const GatherCall& call, int64_t width) {
  const ColumnsArgs args = columns_args(call, width);
  const auto blocks = static_cast<unsigned>(
      args.outer.points * static_cast<int64_t>(args.strips.divisor * args.chunks.divisor));
  with_word_bytes(static_cast<int>(call.nest.row_bytes), [&](auto bytes) {
    if (indices_of(call.nest.index_type.kind()) == Indices::kInt32) {
      columns_kernel<bytes(), Indices::kInt32><<<blocks, kBlockThreads, 0, call.stream>>>(args);
    } else {
      columns_kernel<bytes(), Indices::kBits64><<<blocks, kBlockThreads, 0, call.stream>>>(args);
    }
  });
}

}  // namespace sheaf::cuda
