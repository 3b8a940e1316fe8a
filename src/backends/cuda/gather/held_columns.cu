// SPDX-License-Identifier: MIT
//
// cuda.held_columns: indices that choose among rows, column by column (gather_elements along an
// outer axis), from a table with few enough rows for a narrow strip to fit into shared memory,
// whole or for the most part. A block holds a strip and chooses all of its outputs; entries that
// are not held come from L2.
//
// Outputs are written in pieces as wide as a strip. Writing pieces of 16 bytes, half a sector,
// takes as long as everything else, so a strip is as wide as can be held whole.
#include "backends/cuda/gather/lookup.cuh"
#include "backends/cuda/kernel/pipeline.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::HeldColumns;

// The strips of all points of the loops around: those of one point, then those of the next. Full
// rounds, one strip per block, come first. The strips left over would keep a few blocks busy for
// another round, so the outputs of each are divided among several blocks.
struct HeldStrips {
  DeviceLoop rows;   // of the output
  int64_t columns;   // of a point
  int64_t of_point;  // strips
  int64_t count;
  uint32_t width;       // columns of a strip
  uint32_t width_bits;  // log2 of its bytes
  int copy_bytes;       // 16, 4 or 1: the width of the copies
  uint32_t lane_bits;   // log2 of the threads that a row of it takes
  uint32_t held_rows;
  uint32_t left_over;  // strips
  uint32_t parts;      // blocks for each of those
};

// What a block does in one round.
struct Share {
  int64_t strip, begin, end;  // rows of the output

  __device__ Share(const HeldStrips& strips, int64_t round)
      : strip(round * gridDim.x + blockIdx.x), begin(0), end(strips.rows.extent) {
    if (round * gridDim.x + strips.left_over == strips.count && strips.left_over != 0) {
      const uint32_t part = blockIdx.x / strips.left_over;
      strip = part < strips.parts ? round * gridDim.x + blockIdx.x - part * strips.left_over
                                  : strips.count;
      begin = end * part / strips.parts;
      end = end * (part + 1) / strips.parts;
    }
  }
};

template <int kBytes, int kTogether, Indices kIndices>
struct StripChooser {
  const LookupArgs& args;
  const HeldStrips& strips;
  const std::byte* held;  // in shared memory
  const std::byte* data;  // of the strip, as `index` and `output` are
  int64_t index;
  std::byte* output;
  uint32_t column;  // of the strip: this thread's first
  bool inside;      // whether there are such columns

  // Starts loading the indices of a row.
  __device__ void load(int64_t row, RawIndices<kIndices, kTogether>& raw) const {
    raw.load(args.nest.index_kind, args.indices, index + row * strips.rows.index + column);
  }

  __device__ Word<kBytes> entry(uint32_t at, uint32_t of) const {
    const uint32_t place = (at * strips.width + of) * kBytes;
    return at < strips.held_rows ? *reinterpret_cast<const Word<kBytes>*>(held + place)
           : at != kNarrowOutside
               ? cuda::load<Word<kBytes>>(data + at * args.nest.coordinates[0].stride + of * kBytes)
               : outside_word<kBytes>(args.nest, args.report, 0);
  }

  __device__ Elements<Word<kBytes>, kTogether> choose(
      const RawIndices<kIndices, kTogether>& raw) const {
    Elements<Word<kBytes>, kTogether> chosen;
    uint32_t entries[kTogether];
    raw.resolve(args.nest, entries);
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      chosen.values[k] = entry(entries[k], column + k);
    }
    return chosen;
  }

  // All rows of the output in [begin, end).
  __device__ void run(int64_t begin, int64_t end) const {
    const uint32_t side = Tuning::kThreads >> strips.lane_bits;
    int64_t row = begin + (threadIdx.x >> strips.lane_bits);
    RawIndices<kIndices, kTogether> raw;
    if (inside && row < end) {
      load(row, raw);
    }
    wait_for_copies();
    __syncthreads();
    if (inside) {
      for (; row < end; row += side) {
        const auto chosen = choose(raw);
        if (row + side < end) {
          load(row + side, raw);
        }
        store_streaming(output + row * strips.rows.output + column * kBytes,
                        std::bit_cast<Word<kTogether * kBytes>>(chosen));
      }
    }
    __syncthreads();
  }
};

// Starts copying the held rows of a strip of `bytes` to shared memory, where they lie
// 1 << width_bits bytes apart.
template <int kCopy>
__device__ void copy_strip(const std::byte* strip, int64_t stride, uint32_t bytes, uint32_t rows,
                           uint32_t width_bits, std::byte* memory) {
  for (uint32_t to = threadIdx.x * kCopy; to < rows << width_bits; to += Tuning::kThreads * kCopy) {
    const uint32_t row = to >> width_bits;
    const uint32_t at = to - (row << width_bits);
    if (at < bytes) {
      if constexpr (kCopy >= 4) {
        copy_async<kCopy>(memory + to, strip + row * stride + at);
      } else {
        *reinterpret_cast<Word<kCopy>*>(memory + to) = load<Word<kCopy>>(strip + row * stride + at);
      }
    }
  }
}

__device__ void start_holding(const HeldStrips& strips, const std::byte* strip, int64_t stride,
                              uint32_t bytes, std::byte* memory) {
  const uint32_t rows = strips.held_rows;
  switch (strips.copy_bytes) {
    case 16: return copy_strip<16>(strip, stride, bytes, rows, strips.width_bits, memory);
    case 4: return copy_strip<4>(strip, stride, bytes, rows, strips.width_bits, memory);
    default: return copy_strip<1>(strip, stride, bytes, rows, strips.width_bits, memory);
  }
}

template <int kBytes, int kTogether, Indices kIndices>
__global__ void __launch_bounds__(Tuning::kThreads, 1)
    held_columns_kernel(const __grid_constant__ LookupArgs args,
                        const __grid_constant__ HeldStrips strips) {
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  if (refused(args.check)) {
    return;
  }
  const uint32_t column = threadIdx.x % (1U << strips.lane_bits) * kTogether;
  for (int64_t round = 0;; ++round) {
    const Share share(strips, round);
    if (share.strip >= strips.count) {
      return;
    }
    const int64_t point = share.strip / strips.of_point;
    const int64_t first = (share.strip - point * strips.of_point) * strips.width;
    const int64_t columns = min(int64_t{strips.width}, strips.columns - first);
    const Place place = locate(args.nest, point);
    const StripChooser<kBytes, kTogether, kIndices> chooser{
        args,
        strips,
        memory,
        args.data + place.data + first * kBytes,
        place.index + first,
        args.output + place.output + first * kBytes,
        column,
        column < columns};
    start_holding(strips, chooser.data, args.nest.coordinates[0].stride,
                  static_cast<uint32_t>(columns * kBytes), memory);
    chooser.run(share.begin, share.end);
  }
}

// Shared memory for the held rows.
int64_t held_bytes() {
  return current_device().shared_bytes * Tuning::kHeldSevenths / 7 / Tuning::kNarrowest *
         Tuning::kNarrowest;
}

// The bytes of a strip's rows; 0: too little of a strip could be held. Wide strips are held whole.
// Three quarters of the narrowest are enough; with less, reading the rest from L2 takes longer than
// cuda.columns.
int64_t strip_bytes(const Nest& nest) {
  const int64_t rows = nest.coordinates[0].extent;
  for (int64_t bytes = Tuning::kWidest; bytes >= Tuning::kNarrowest; bytes /= 2) {
    const int64_t room = bytes == Tuning::kNarrowest ? held_bytes() * 4 / 3 : held_bytes();
    const bool wider_than_data = bytes / 2 >= nest.loops.back().extent * nest.row_bytes;
    if (rows <= room / bytes && (!wider_than_data || bytes == Tuning::kNarrowest)) {
      return bytes;
    }
  }
  return 0;
}

int64_t outputs_of_strip(const Nest& nest) {
  const int64_t columns = std::min(nest.loops.back().extent, strip_bytes(nest) / nest.row_bytes);
  return nest.loops[nest.loops.size() - 2].extent * columns;
}

// The width of copies that rows of data allow: 16, 4 or 1 bytes.
int copy_width(const Nest& nest, const LookupArgs& args) {
  const Loop& columns = nest.loops.back();
  const int aligned =
      common_alignment(nullptr, {nest.coordinates[0].stride, columns.extent * columns.data},
                       row_alignment(args, Side::kData, 16));
  return aligned == 16 ? 16 : aligned >= 4 ? 4 : 1;
}

HeldStrips held_strips(const Nest& nest, const LookupArgs& args) {
  const int64_t width = strip_bytes(nest);
  const Loop& columns = nest.loops.back();
  const Loop& rows = nest.loops[nest.loops.size() - 2];
  HeldStrips strips{};
  strips.rows = {Divisor(), rows.extent, rows.data, rows.index, rows.output};
  strips.columns = columns.extent;
  strips.width = static_cast<uint32_t>(width / nest.row_bytes);
  strips.width_bits = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(width)));
  strips.of_point = (columns.extent - 1) / strips.width + 1;
  strips.count = args.nest.points * strips.of_point;
  strips.copy_bytes = copy_width(nest, args);
  strips.held_rows =
      static_cast<uint32_t>(std::min(nest.coordinates[0].extent, held_bytes() / width));
  return strips;
}

template <int kBytes, int kTogether, Indices kIndices>
void launch(const LookupArgs& args, HeldStrips strips, Stream stream) {
  const auto blocks = static_cast<unsigned>(current_device().multiprocessors);
  strips.lane_bits = static_cast<uint32_t>(std::countr_zero(strips.width / kTogether));
  strips.left_over = static_cast<uint32_t>(strips.count % blocks);
  strips.parts = strips.left_over == 0 ? 0 : blocks / strips.left_over;
  const auto kernel = held_columns_kernel<kBytes, kTogether, kIndices>;
  const auto bytes = static_cast<int>(held_bytes());
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<blocks, Tuning::kThreads, static_cast<size_t>(bytes), stream>>>(args, strips);
}

template <int kBytes, Indices kIndices>
void launch_width(const LookupArgs& args, const HeldStrips& strips, Stream stream) {
  constexpr int kTogether = kMostTogether<kBytes, kIndices>;
  constexpr int64_t kIndexWidth = kIndices == Indices::kInt32 ? 4 : 8;
  const auto aligned = [&](Side side, int64_t row, int64_t wanted) {
    return common_alignment(nullptr, {row}, row_alignment(args, side, static_cast<int>(wanted))) ==
           wanted;
  };
  if (strips.columns % kTogether == 0 &&
      aligned(Side::kOutput, strips.rows.output, kTogether * kBytes) &&
      aligned(Side::kIndices, strips.rows.index * kIndexWidth, kTogether * kIndexWidth)) {
    launch<kBytes, kTogether, kIndices>(args, strips, stream);
  } else {  // one kernel for every other layout
    launch<kBytes, 1, Indices::kAnyType>(args, strips, stream);
  }
}

}  // namespace

const char* held_columns_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* refusal = choosing_columns_refusal(query)) {
    return refusal;
  }
  if (nest.loops.back().index != 1) {
    return "indices of neighbouring columns are not neighbours";
  }
  if (strip_bytes(nest) == 0) {
    return "too little of a strip fits into shared memory";
  }
  return outputs_of_strip(nest) >= Tuning::kLeastOutputs &&
                 point_count(nest) / current_device().multiprocessors >=
                     Tuning::kLeastOfMultiprocessor
             ? nullptr
             : "too few outputs to fill shared memory for";
}

bool run_held_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  Nest outer = nest;
  outer.loops.pop_back();
  outer.loops.pop_back();
  const GatherCall call = gather_call(outer, buffers, how);
  const LookupArgs args(call, static_cast<int>(nest.row_bytes));
  const HeldStrips strips = held_strips(nest, args);
  with_word_bytes(static_cast<int>(nest.row_bytes), [&](auto bytes) {
    with_indices(args.nest.index_kind, [&](auto indices) {
      launch_width<bytes(), indices()>(args, strips, call.stream);
    });
  });
  return true;
}

}  // namespace sheaf::cuda
