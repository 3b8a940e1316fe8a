// SPDX-License-Identifier: MIT
//
// cuda.lookup and cuda.elements: indices that choose inside contiguous rows of data. Whole rows are
// copied to shared memory by wide loads, while outputs are chosen from the tile before. In
// cuda.lookup all rows are chosen from by the same indices; in cuda.elements each row has its own.
#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>

#include "backends/cuda/gather/lookup.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Lookup;

constexpr uint16_t kOutsideShort = UINT16_MAX;

// Rows of one tile, one after the other in shared memory.
struct Staging {
  int64_t rows;       // of the whole call
  int64_t row_bytes;  // of data
  uint32_t pitch;     // of a row in shared memory
  uint32_t tile_rows;
  uint32_t index_bytes;   // in shared memory, before the tiles
  uint32_t inner;         // outputs of a row
  int copy_bytes;         // 16, 8, 4 or 1: the width of the copies
  Divisor copies_of_row;  // row_bytes / copy_bytes
  Divisor steps_of_row;   // inner / outputs of a step
};

// A row's places, kept for all that is chosen from it.
struct RowPlace {
  int64_t index, output;
};

template <int kBytes>
__device__ void copy_tile(const LookupArgs& args, const Staging& s, int64_t first, uint32_t rows,
                          std::byte* tile) {
  const uint32_t copies = s.copies_of_row.divisor;
  for (uint32_t i = threadIdx.x; i < rows * copies; i += blockDim.x) {
    const uint32_t row = s.copies_of_row.quotient(i);
    const uint32_t at = (i - row * copies) * kBytes;
    const std::byte* from = args.data + locate(args.nest, first + row).data + at;
    std::byte* to = tile + row * s.pitch + at;
    if constexpr (kBytes >= 4) {
      __pipeline_memcpy_async(to, from, kBytes);
    } else {
      *reinterpret_cast<Word<kBytes>*>(to) = load<Word<kBytes>>(from);
    }
  }
}

__device__ uint32_t rows_of_tile(const Staging& s, int64_t tile) {
  const int64_t left = s.rows - tile * s.tile_rows;
  return left < s.tile_rows ? static_cast<uint32_t>(left) : s.tile_rows;
}

// A tile's memory: the places of its rows, then the rows.
__device__ void start_tile(const LookupArgs& args, const Staging& s, int64_t tile,
                           std::byte* memory) {
  if (tile * s.tile_rows < s.rows) {
    const int64_t first = tile * s.tile_rows;
    const uint32_t rows = rows_of_tile(s, tile);
    for (uint32_t row = threadIdx.x; row < rows; row += blockDim.x) {
      const Place place = locate(args.nest, first + row);
      reinterpret_cast<RowPlace*>(memory)[row] = {place.index, place.output};
    }
    memory += s.tile_rows * sizeof(RowPlace);
    switch (s.copy_bytes) {
      case 16: copy_tile<16>(args, s, first, rows, memory); break;
      case 8: copy_tile<8>(args, s, first, rows, memory); break;
      case 4: copy_tile<4>(args, s, first, rows, memory); break;
      default: copy_tile<1>(args, s, first, rows, memory); break;
    }
  }
  __pipeline_commit();
}

// Which outputs step `number` of a tile makes.
struct Step {
  uint32_t row, column;  // of the tile; of the row
};

template <int kTogether>
__device__ Step step_of(const Staging& s, uint32_t number) {
  const uint32_t row = s.steps_of_row.quotient(number);
  return {row, (number - row * s.steps_of_row.divisor) * kTogether};
}

// A tile in shared memory, whose outputs a thread makes in rounds of Tuning::kStepsInFlight steps.
template <int kBytes, int kTogether, Indices kIndices>
struct Chooser {
  const LookupArgs& args;
  const Staging& s;
  const RowPlace* places;
  const std::byte* rows;
  uint32_t steps;

  using Round = RawIndices<kIndices, kTogether>[Tuning::kStepsInFlight];

  __device__ Chooser(const LookupArgs& a, const Staging& staging, int64_t tile,
                     const std::byte* memory)
      : args(a),
        s(staging),
        places(reinterpret_cast<const RowPlace*>(memory)),
        rows(memory + staging.tile_rows * sizeof(RowPlace)),
        steps(rows_of_tile(staging, tile) * staging.steps_of_row.divisor) {}

  // Starts loading the indices of a round.
  __device__ void load_round(uint32_t begin, Round& round) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
      const uint32_t number = begin + i * blockDim.x;
      if (number < steps) {
        const Step step = step_of<kTogether>(s, number);
        round[i].load(args.nest.index_kind, args.indices, places[step.row].index + step.column);
      }
    }
  }

  template <class Entries>
  __device__ void write_round(uint32_t begin, Entries entries_of) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
      const uint32_t number = begin + i * blockDim.x;
      if (number < steps) {
        const Step step = step_of<kTogether>(s, number);
        uint32_t entries[kTogether];
        entries_of(i, step, entries);
        write_outputs<kBytes, kTogether>(
            args, rows + step.row * s.pitch, entries,
            args.output + places[step.row].output + step.column * kBytes);
      }
    }
  }
};

template <int kTogether>
__device__ void shared_entries(const uint16_t* lookup, uint32_t column,
                               uint32_t (&entries)[kTogether]) {
  const auto shorts = *reinterpret_cast<const Elements<uint16_t, kTogether>*>(lookup + column);
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
    entries[i] = shorts.values[i] == kOutsideShort ? kNarrowOutside : shorts.values[i];
  }
}

// args.nest has the loops outside the innermost: its points are rows. Every turn starts loading a
// tile and chooses from the one before. kShared: all rows have the same indices, which are kept as
// entries.
template <int kBytes, int kTogether, Indices kIndices, bool kShared>
__global__ void __launch_bounds__(Tuning::kThreads, 1)
    lookup_kernel(const __grid_constant__ LookupArgs args, const __grid_constant__ Staging s) {
  extern __shared__ uint4 shared[];
  auto* const lookup = reinterpret_cast<uint16_t*>(shared);
  std::byte* const tiles = reinterpret_cast<std::byte*>(shared) + s.index_bytes;
  const uint32_t tile_bytes = s.tile_rows * (s.pitch + sizeof(RowPlace));
  const uint32_t stride = Tuning::kStepsInFlight * blockDim.x;
  if (refused(args.check)) {
    return;
  }
  int64_t tile = blockIdx.x;
  start_tile(args, s, tile, tiles);
  if constexpr (kShared) {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < s.inner; i += blockDim.x) {
      const int64_t raw = load_raw<kIndices>(args.nest.index_kind, args.indices, i);
      lookup[i] = static_cast<uint16_t>(
          narrow_entry_of(args.nest, raw, static_cast<uint32_t>(args.nest.coordinates[0].extent)));
    }
  }
  __syncthreads();
  for (uint32_t turn = 0; tile * s.tile_rows < s.rows; tile += gridDim.x, turn ^= 1) {
    const Chooser<kBytes, kTogether, kIndices> chooser(args, s, tile, tiles + turn * tile_bytes);
    typename Chooser<kBytes, kTogether, kIndices>::Round now;
    if constexpr (!kShared) {
      chooser.load_round(threadIdx.x, now);
    }
    start_tile(args, s, tile + gridDim.x, tiles + (turn ^ 1) * tile_bytes);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (uint32_t begin = threadIdx.x; begin < chooser.steps; begin += stride) {
      if constexpr (kShared) {
        chooser.write_round(begin, [&](int, const Step& step, auto& entries) {
          shared_entries<kTogether>(lookup, step.column, entries);
        });
      } else {
        typename Chooser<kBytes, kTogether, kIndices>::Round next;
        chooser.load_round(begin + stride, next);
        chooser.write_round(
            begin, [&](int i, const Step&, auto& entries) { now[i].resolve(args.nest, entries); });
#pragma unroll
        for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
          now[i] = next[i];
        }
      }
    }
    __syncthreads();
  }
}

struct Room {
  Staging staging;
  int threads;
  int blocks_of_multiprocessor;
  int64_t shared_bytes;
};

Room room_for(const LookupShape& shape, int64_t rows) {
  const Device& device = current_device();
  Room room{};
  Staging& s = room.staging;
  s.rows = rows;
  s.row_bytes = shape.entries * shape.entry_bytes;
  s.pitch = static_cast<uint32_t>((s.row_bytes + 15) / 16 * 16);
  s.inner = static_cast<uint32_t>(shape.inner_extent);
  s.index_bytes =
      shape.shared_indices ? static_cast<uint32_t>((shape.inner_extent * 2 + 15) / 16 * 16) : 0;
  // Every multiprocessor gets a tile, and the steps of a tile stay within a Divisor's range.
  const int64_t most = std::min({Tuning::kTileBytes / s.pitch, rows / device.multiprocessors,
                                 (int64_t{1} << 30) / std::max<int64_t>(shape.inner_extent, 1)});
  s.tile_rows = static_cast<uint32_t>(std::max<int64_t>(most, 1));
  const int64_t tile_bytes = s.tile_rows * (int64_t{s.pitch} + int64_t{sizeof(RowPlace)});
  room.shared_bytes = s.index_bytes + 2 * tile_bytes;
  room.blocks_of_multiprocessor = static_cast<int>(std::clamp<int64_t>(
      device.multiprocessor_shared_bytes / (room.shared_bytes + kReservedShared), 1,
      Tuning::kMostBlocks));
  room.threads = Tuning::kThreads / room.blocks_of_multiprocessor;
  return room;
}

template <int kBytes, int kTogether, Indices kIndices, bool kShared>
void launch(const LookupArgs& args, Room& room, Stream stream) {
  room.staging.steps_of_row = Divisor(room.staging.inner / kTogether);
  const auto kernel = lookup_kernel<kBytes, kTogether, kIndices, kShared>;
  // The same for every call: concurrent launches must not lower each other's limit.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(current_device().shared_bytes));
  const int64_t tiles = (room.staging.rows - 1) / room.staging.tile_rows + 1;
  const int64_t most = int64_t{current_device().multiprocessors} * room.blocks_of_multiprocessor;
  kernel<<<static_cast<unsigned>(std::min(tiles, most)), room.threads,
           static_cast<size_t>(room.shared_bytes), stream>>>(args, room.staging);
}

template <int kBytes, Indices kIndices, bool kShared>
void launch_width(const LookupArgs& args, Room& room, Stream stream) {
  constexpr Indices kLike = kShared ? Indices::kInt32 : kIndices;  // shorts in shared memory
  constexpr int kTogether = kMostTogether<kBytes, kLike>;
  constexpr int kIndexBytes = kTogether * (kIndices == Indices::kInt32 ? 4 : 8);
  const bool together =
      room.staging.inner % kTogether == 0 &&
      row_alignment(args, Side::kOutput, kTogether * kBytes) == kTogether * kBytes &&
      (kShared || row_alignment(args, Side::kIndices, kIndexBytes) == kIndexBytes);
  if (together) {
    launch<kBytes, kTogether, kIndices, kShared>(args, room, stream);
  } else {  // one kernel for every other layout
    launch<kBytes, 1, Indices::kAnyType, kShared>(args, room, stream);
  }
}

bool fits(const LookupShape& shape) {
  if (shape.inner_extent >= Tuning::kMost || shape.entries >= Tuning::kMost ||
      (shape.shared_indices &&
       (shape.inner_extent > Tuning::kMostShared || shape.entries > kOutsideShort))) {
    return false;
  }
  return room_for(shape, 1).shared_bytes <= current_device().shared_bytes;
}

const char* staged_refusal(const KernelQuery& query) {
  const char* refusal = choosing_refusal(query);
  if (refusal != nullptr) {
    return refusal;
  }
  return fits(shape_of(query.nest)) ? nullptr : "two rows do not fit into shared memory";
}

}  // namespace

const char* choosing_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.loops.empty() || nest.coordinates.size() != 1) {
    return "not one index per element";
  }
  const Loop& inner = nest.loops.back();
  const Coordinate& coordinate = nest.coordinates[0];
  if (nest.row_bytes > 16 || coordinate.stride != nest.row_bytes || coordinate.offset != 0) {
    return "the indices do not choose among neighbouring elements";
  }
  if (inner.data != 0 || inner.index != 1 || inner.output != nest.row_bytes) {
    return "the innermost loop does not walk over indices";
  }
  if (word_bytes(nest, query.addresses) < nest.row_bytes) {
    return "entries are not aligned to their size, or it is not a power of 2";
  }
  if (point_count(nest) / inner.extent < current_device().multiprocessors) {
    return "fewer rows to choose from than multiprocessors";
  }
  if (coordinate.extent * nest.row_bytes / kSectorBytes > inner.extent) {
    return "too few indices per row to read the row whole";
  }
  return nullptr;
}

const char* lookup_refusal(const KernelQuery& query) {
  const char* refusal = staged_refusal(query);
  return refusal == nullptr && !same_indices_everywhere(query.nest) ? "each row has its own indices"
                                                                    : refusal;
}

const char* elements_refusal(const KernelQuery& query) {
  const char* refusal = staged_refusal(query);
  return refusal == nullptr && same_indices_everywhere(query.nest)
             ? "all rows have the same indices"
             : refusal;
}

bool run_lookup(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  Nest rows = nest;
  rows.loops.pop_back();
  const LookupShape shape = shape_of(nest);
  const GatherCall call = gather_call(rows, buffers, how);
  const LookupArgs args(call, shape.entry_bytes);
  Room room = room_for(shape, args.nest.points);
  Staging& s = room.staging;
  s.copy_bytes = row_alignment(args, Side::kData, common_alignment(nullptr, {s.row_bytes}, 16));
  s.copy_bytes = s.copy_bytes == 2 ? 1 : s.copy_bytes;
  s.copies_of_row = Divisor(static_cast<uint32_t>(s.row_bytes / s.copy_bytes));
  with_word_bytes(shape.entry_bytes, [&](auto bytes) {
    if (shape.shared_indices) {
      launch_width<bytes(), Indices::kAnyType, true>(args, room, call.stream);
    } else {
      with_indices(args.nest.index_kind, [&](auto indices) {
        launch_width<bytes(), indices(), false>(args, room, call.stream);
      });
    }
  });
  return true;
}

}  // namespace sheaf::cuda
