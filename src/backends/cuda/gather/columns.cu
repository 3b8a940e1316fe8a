// SPDX-License-Identifier: MIT
//
// cuda.columns: indices that choose among rows, column by column (gather_elements along an outer
// axis): random single elements of a large table, read strip by strip. A strip's part of the table
// is packed first, so that its pages stay in the TLB and its bytes in L2. One launch chooses from a
// strip and packs the next.
#include <algorithm>
#include <bit>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Columns;

struct StripArgs {
  NestOf<1, 1> rows;  // the loop over rows, the coordinate and the rule
  const std::byte* indices;
  const std::byte* packed;
  std::byte* output;
  const Verdict* check;
  Verdict* report;
  int64_t columns, column_index;  // of this strip; index elements from one to the next
  uint32_t width;                 // of every packed row, in columns
  uint32_t choosing_blocks;       // come after those that pack
  int64_t pitch;                  // the same in bytes
  // The next strip. Null: there is none.
  const std::byte* next;
  std::byte* next_packed;
  WideDivisor next_row_words;
  bool next_wide;  // by words of 16 bytes, else by elements
};

template <int kBytes>
__device__ void pack(const StripArgs& args, int64_t block) {
  const DeviceCoordinate& entries = args.rows.coordinates[0];
  const auto row_words = static_cast<int64_t>(args.next_row_words.divisor);
  Word<kBytes> words[Tuning::kWordsOfPack];
  int64_t to[Tuning::kWordsOfPack];
#pragma unroll
  for (int i = 0; i < Tuning::kWordsOfPack; ++i) {
    const int64_t word = (block * Tuning::kWordsOfPack + i) * kBlockThreads + threadIdx.x;
    const auto row =
        static_cast<int64_t>(args.next_row_words.quotient(static_cast<uint64_t>(word)));
    const int64_t column = (word - row * row_words) * kBytes;
    to[i] = row < entries.extent ? row * args.pitch + column : kNowhere;
    if (to[i] != kNowhere) {
      words[i] = load_once<Word<kBytes>>(args.next + row * entries.stride + column);
    }
  }
  wait_for_launch_before();
#pragma unroll
  for (int i = 0; i < Tuning::kWordsOfPack; ++i) {
    if (to[i] != kNowhere) {
      *reinterpret_cast<Word<kBytes>*>(args.next_packed + to[i]) = words[i];
    }
  }
}

// From L2: the launch before may still have been writing when this one began.
template <int kBytes>
__device__ Word<kBytes> load_packed(const std::byte* memory) {
  return __ldcg(reinterpret_cast<const Word<kBytes>*>(memory));
}

template <int kBytes, Indices kIndices>
__device__ void choose(const StripArgs& args, int64_t block) {
  const DeviceCoordinate& entries = args.rows.coordinates[0];
  const DeviceLoop& rows = args.rows.loops[0];
  const uint32_t side = kBlockThreads / args.width;  // rows that the block has side by side
  const int64_t column = threadIdx.x % args.width;
  const int64_t first = block * (side * Tuning::kInFlight) + threadIdx.x / args.width;
  const bool inside = column < args.columns && !refused(args.check);
  const auto live = [&](int i) { return inside && first + i * side < rows.extent; };
  int64_t raw[Tuning::kInFlight];
#pragma unroll
  for (int i = 0; i < Tuning::kInFlight; ++i) {
    if (live(i)) {
      raw[i] =
          load_raw_once<kIndices>(args.rows.index_kind, args.indices,
                                  (first + i * side) * rows.index + column * args.column_index);
    }
  }
  wait_for_launch_before();
  Word<kBytes> words[Tuning::kInFlight];
#pragma unroll
  for (int i = 0; i < Tuning::kInFlight; ++i) {
    if (live(i)) {
      const int64_t entry = entry_of(args.rows, raw[i], entries.extent);
      words[i] = entry != kOutside
                     ? load_packed<kBytes>(args.packed + (entry * args.width + column) * kBytes)
                     : outside_word<kBytes>(args.rows, args.report, 0);
    }
  }
#pragma unroll
  for (int i = 0; i < Tuning::kInFlight; ++i) {
    if (live(i)) {
      store_streaming(args.output + (first + i * side) * rows.output + column * kBytes, words[i]);
    }
  }
}

template <int kBytes, Indices kIndices>
__global__ void __launch_bounds__(kBlockThreads)
    strip_kernel(const __grid_constant__ StripArgs args) {
  let_next_launch_begin();
  const uint32_t packing = gridDim.x - args.choosing_blocks;
  if (blockIdx.x >= packing) {
    choose<kBytes, kIndices>(args, blockIdx.x - packing);
  } else if (args.next_wide) {
    pack<16>(args, blockIdx.x);
  } else {
    pack<kBytes>(args, blockIdx.x);
  }
}

// In columns; 0: not even one fits.
int64_t strip_width(const Nest& nest) {
  const int64_t room = current_device().l2_bytes / Tuning::kL2Part;
  const int64_t fitting = room / (nest.coordinates[0].extent * nest.row_bytes);
  const int64_t most = std::min({fitting, Tuning::kWidest, nest.loops.back().extent});
  return most < 1 ? 0 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

bool fits_columns(const Nest& nest) {
  const int64_t width = strip_width(nest);
  int64_t strips = width == 0 ? 0 : (nest.loops.back().extent - 1) / width + 1;
  for (int l = 0; l + 2 < nest.loops.size(); ++l) {
    strips *= nest.loops[l].extent;
  }
  return width * nest.row_bytes >= Tuning::kNarrowest && strips <= Tuning::kMostStrips;
}

// The strips of a call: those of one point of the outer loops, then those of the next.
struct Strips {
  const GatherCall& call;
  Loop columns, rows;
  AnyNest outer;
  int64_t width, per_point, count;
  std::byte* packed[2];

  Strips(const GatherCall& gather, std::byte* memory) : call(gather) {
    Nest around = call.nest;
    columns = around.loops.back();
    around.loops.pop_back();
    rows = around.loops.back();
    around.loops.pop_back();
    outer = device_nest<AnyNest>(around);
    width = strip_width(call.nest);
    per_point = (columns.extent - 1) / width + 1;
    count = outer.points * per_point;
    packed[0] = memory;
    packed[1] = memory + columns_bytes(call.nest, 0) / 2;
  }

  Place place(int64_t strip) const {
    Place at = locate(outer, strip / per_point);
    const int64_t column = strip % per_point * width;
    at.data += column * columns.data;
    at.index += column * columns.index;
    at.output += column * columns.output;
    return at;
  }
  int64_t columns_of(int64_t strip) const {
    return std::min(width, columns.extent - strip % per_point * width);
  }
};

// Describes one launch: choosing from `strip` (none if -1) and packing the one after it.
StripArgs strip_args(const Strips& strips, int64_t strip) {
  const GatherCall& call = strips.call;
  Nest rows = call.nest;
  rows.loops = {strips.rows};
  StripArgs args{};
  args.rows = device_nest<NestOf<1, 1>>(rows);
  args.check = call.check;
  args.report = call.report;
  args.width = static_cast<uint32_t>(strips.width);
  args.pitch = strips.width * call.nest.row_bytes;
  args.column_index = strips.columns.index;
  if (strip >= 0) {
    const Place at = strips.place(strip);
    args.indices =
        call.indices + (at.index + call.nest.coordinates[0].offset) * call.nest.index_type.bytes();
    args.packed = strips.packed[strip % 2];
    args.output = call.output + at.output;
    args.columns = strips.columns_of(strip);
    const int64_t rows_of_block = kBlockThreads / strips.width * Tuning::kInFlight;
    args.choosing_blocks = static_cast<uint32_t>((strips.rows.extent - 1) / rows_of_block + 1);
  }
  return args;
}

// A packed row is as wide as a full strip; the strip at the right edge fills part of it.
unsigned add_packing(const Strips& strips, int64_t next, StripArgs& args) {
  constexpr int64_t kWordsOfBlock = kBlockThreads * Tuning::kWordsOfPack;
  const Nest& nest = strips.call.nest;
  args.next = strips.call.data + strips.place(next).data;
  args.next_packed = strips.packed[next % 2];
  const int64_t row_bytes = strips.columns_of(next) * nest.row_bytes;
  const auto bits = reinterpret_cast<uintptr_t>(args.next) |
                    static_cast<uintptr_t>(nest.coordinates[0].stride | row_bytes | args.pitch);
  args.next_wide = bits % 16 == 0;
  const int64_t row_words = row_bytes / (args.next_wide ? 16 : nest.row_bytes);
  args.next_row_words = WideDivisor(static_cast<uint64_t>(row_words));
  return blocks_of(nest.coordinates[0].extent * row_words, kWordsOfBlock);
}

using StripKernel = void (*)(StripArgs);

StripKernel kernel_for(const Nest& nest) {
  StripKernel kernel = nullptr;
  with_word_bytes(static_cast<int>(nest.row_bytes), [&](auto bytes) {
    with_indices(nest.index_type.kind(),
                 [&](auto indices) { kernel = strip_kernel<bytes(), indices()>; });
  });
  return kernel;
}

}  // namespace

const char* choosing_columns_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.size() < 2 || nest.coordinates.size() != 1) {
    return "not one index per element";
  }
  const Loop& inner = nest.loops.back();
  const Coordinate& coordinate = nest.coordinates[0];
  if (nest.row_bytes > 16 || inner.data != nest.row_bytes || inner.index == 0 ||
      inner.output != nest.row_bytes || coordinate.stride < inner.extent * inner.data ||
      coordinate.offset != 0) {
    return "the indices do not choose among rows, column by column";
  }
  if (word_bytes(nest, query.addresses) < nest.row_bytes) {
    return "entries are not aligned to their size, or it is not a power of 2";
  }
  const Loop& middle = nest.loops[nest.loops.size() - 2];
  return middle.data == 0 && middle.index != 0 &&
                 middle.extent >= coordinate.extent / Tuning::kLeastUse
             ? nullptr
             : "too few indices per column";
}

const char* columns_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* refusal = choosing_columns_refusal(query)) {
    return refusal;
  }
  const Loop& inner = nest.loops.back();
  if (nest.coordinates[0].extent * inner.extent * inner.data <=
      current_device().l2_bytes / Tuning::kFitsPart) {
    return "data fits into L2 as it is";
  }
  return fits_columns(nest) ? nullptr : "strips that fit into L2 are too narrow, or too many";
}

size_t columns_bytes(const Nest& nest, int /*threads*/) {
  const int64_t strip = nest.coordinates[0].extent * strip_width(nest) * nest.row_bytes;
  return 2 * static_cast<size_t>((strip + 255) / 256 * 256);
}

bool run_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  const GatherCall call = gather_call(nest, buffers, how);
  const Strips strips(call, call.workspace);
  const StripKernel kernel = kernel_for(nest);
  const bool waits = waits_for_launch_before(kernel);
  for (int64_t strip = -1; strip < strips.count; ++strip) {
    StripArgs args = strip_args(strips, strip);
    const unsigned packing = strip + 1 < strips.count ? add_packing(strips, strip + 1, args) : 0;
    launch_early(kernel, args, packing + args.choosing_blocks, kBlockThreads, strip >= 0 && waits,
                 call.stream);
  }
  return true;
}

}  // namespace sheaf::cuda
