// SPDX-License-Identifier: MIT
//
// Indices that choose inside contiguous rows of data: the rows are brought to shared memory whole,
// by long reads, while the tile before is being chosen from. cuda.lookup, where all rows are chosen
// from by the same indices, and cuda.elements, where each row has its own.
#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>

#include "backends/cuda/device.h"
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

constexpr uint32_t kFilled = UINT32_MAX;
constexpr int64_t kMostShared = 16384;    // indices kept in shared memory
constexpr int64_t kTileBytes = 16 << 10;  // short rows are staged together up to this
constexpr int kStepsInFlight = 4;

// Rows of one tile, one after the other in shared memory.
struct Staging {
  int64_t rows;       // of the whole call
  int64_t row_bytes;  // of data
  uint32_t pitch;     // of a row in shared memory
  uint32_t tile_rows;
  uint32_t index_bytes;   // in shared memory, before the tiles
  uint32_t inner;         // outputs of a row
  int copy_bytes;         // 16, 8, 4: what a row is read by; less: element by element
  Divisor copies_of_row;  // row_bytes / copy_bytes
  Divisor steps_of_row;   // inner / outputs of a step
};

// A row's places, kept for all that is chosen from it.
struct RowPlace {
  int64_t index, output;
};

using StagedArgs = GatherArgs<AnyNest>;

template <int kBytes>
__device__ void copy_tile(const StagedArgs& args, const Staging& s, int64_t first, uint32_t rows,
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
__device__ void start_tile(const StagedArgs& args, const Staging& s, int64_t tile,
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

// entry_of() in 32 bits: rows that fit here have fewer entries.
__device__ uint32_t staged_entry(const AnyNest& nest, int64_t raw) {
  const auto extent = static_cast<uint32_t>(nest.coordinates[0].extent);
  const auto low = static_cast<int32_t>(raw);
  const bool from_end =
      low < 0 && nest.negative == Negative::kFromEnd && nest.index_kind != Kind::kUInt64;
  const uint32_t at = static_cast<uint32_t>(low) + (from_end ? extent : 0);
  if (raw == low && at < extent) {
    return at;
  }
  const int64_t entry = entry_of(nest, raw, extent);
  return entry == kOutside ? kFilled : static_cast<uint32_t>(entry);
}

// kTogether outputs side by side: their indices are read, and they are written, by one instruction
// each.
template <Indices kIndices, int kTogether>
__device__ void load_entries(const StagedArgs& args, int64_t element,
                             uint32_t (&entries)[kTogether]) {
  if constexpr (kIndices == Indices::kBits64 && kTogether == 2) {
    const auto pair = load_once<longlong2>(args.indices + element * 8);
    entries[0] = staged_entry(args.nest, pair.x);
    entries[1] = staged_entry(args.nest, pair.y);
  } else if constexpr (kIndices == Indices::kInt32 && kTogether == 4) {
    const auto four = load_once<int4>(args.indices + element * 4);
    entries[0] = staged_entry(args.nest, four.x);
    entries[1] = staged_entry(args.nest, four.y);
    entries[2] = staged_entry(args.nest, four.z);
    entries[3] = staged_entry(args.nest, four.w);
  } else if constexpr (kIndices == Indices::kInt32 && kTogether == 2) {
    const auto pair = load_once<int2>(args.indices + element * 4);
    entries[0] = staged_entry(args.nest, pair.x);
    entries[1] = staged_entry(args.nest, pair.y);
  } else {
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      entries[i] = staged_entry(
          args.nest, load_raw<kIndices>(args.nest.index_kind, args.indices, element + i));
    }
  }
}

template <int kBytes, int kTogether>
struct alignas(kBytes* kTogether) Outputs {
  Word<kBytes> values[kTogether];
};

template <int kBytes, int kTogether>
__device__ void write_outputs(const StagedArgs& args, const std::byte* row,
                              const uint32_t (&entries)[kTogether], std::byte* to) {
  union {
    Outputs<kBytes, kTogether> outputs;
    Word<kBytes * kTogether> word;
  } chosen;
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
    chosen.outputs.values[i] =
        entries[i] != kFilled ? *reinterpret_cast<const Word<kBytes>*>(row + entries[i] * kBytes)
                              : fill_word<kBytes>(args.nest, 0);
  }
  store_streaming(to, chosen.word);
}

// Where the outputs of step `number` of a tile are, and what they are chosen from.
struct Step {
  uint32_t row, column;  // of the tile; of the row
};

template <int kTogether>
__device__ Step step_of(const Staging& s, uint32_t number) {
  const uint32_t row = s.steps_of_row.quotient(number);
  return {row, (number - row * s.steps_of_row.divisor) * kTogether};
}

// The indices of a row's outputs: in shared memory if all rows have the same.
template <int kBytes, int kTogether, Indices kIndices, bool kShared>
__device__ void choose_tile(const StagedArgs& args, const Staging& s, int64_t tile,
                            const uint32_t* lookup, const std::byte* memory) {
  const auto* const places = reinterpret_cast<const RowPlace*>(memory);
  memory += s.tile_rows * sizeof(RowPlace);
  const uint32_t steps = rows_of_tile(s, tile) * s.steps_of_row.divisor;
  for (uint32_t begin = threadIdx.x; begin < steps; begin += kStepsInFlight * blockDim.x) {
    uint32_t entries[kStepsInFlight][kTogether];
#pragma unroll
    for (int i = 0; i < kStepsInFlight; ++i) {
      const uint32_t number = begin + i * blockDim.x;
      if (number < steps) {
        const Step step = step_of<kTogether>(s, number);
        if constexpr (kShared) {
          *reinterpret_cast<Outputs<4, kTogether>*>(entries[i]) =
              *reinterpret_cast<const Outputs<4, kTogether>*>(lookup + step.column);
        } else {
          load_entries<kIndices, kTogether>(args, places[step.row].index + step.column, entries[i]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kStepsInFlight; ++i) {
      const uint32_t number = begin + i * blockDim.x;
      if (number < steps) {
        const Step step = step_of<kTogether>(s, number);
        write_outputs<kBytes, kTogether>(
            args, memory + step.row * s.pitch, entries[i],
            args.output + places[step.row].output + step.column * kBytes);
      }
    }
  }
}

// args.nest has the loops outside the innermost: its points are rows. Every turn asks for a tile
// and chooses from the one that was asked for the turn before.
template <int kBytes, int kTogether, Indices kIndices, bool kShared>
__global__ void __launch_bounds__(1024, 1)
    staged_kernel(const __grid_constant__ StagedArgs args, const __grid_constant__ Staging s) {
  extern __shared__ uint4 shared[];
  auto* const lookup = reinterpret_cast<uint32_t*>(shared);
  std::byte* const tiles = reinterpret_cast<std::byte*>(shared) + s.index_bytes;
  const uint32_t tile_bytes = s.tile_rows * (s.pitch + sizeof(RowPlace));
  if (refused(args.verdict)) {
    return;
  }
  if constexpr (kShared) {
    for (uint32_t i = threadIdx.x; i < s.inner; i += blockDim.x) {
      lookup[i] = staged_entry(args.nest, load_raw<kIndices>(args.nest.index_kind, args.indices,
                                                             args.nest.coordinates[0].offset + i));
    }
  }
  uint32_t turn = 0;
  for (int64_t tile = blockIdx.x; (tile - gridDim.x) * s.tile_rows < s.rows; tile += gridDim.x) {
    start_tile(args, s, tile, tiles + turn * tile_bytes);
    turn ^= 1;
    if (tile != blockIdx.x) {
      __pipeline_wait_prior(1);
      __syncthreads();
      choose_tile<kBytes, kTogether, kIndices, kShared>(args, s, tile - gridDim.x, lookup,
                                                        tiles + turn * tile_bytes);
      __syncthreads();
    }
  }
}

struct Room {
  Staging staging;
  int threads;
  int blocks_of_multiprocessor;
  int64_t shared_bytes;
};

Room room_for(const StagedShape& shape, int64_t rows) {
  const Device& device = current_device();
  Room room{};
  Staging& s = room.staging;
  s.rows = rows;
  s.row_bytes = shape.entries * shape.entry_bytes;
  s.pitch = static_cast<uint32_t>((s.row_bytes + 15) / 16 * 16);
  s.inner = static_cast<uint32_t>(shape.inner_extent);
  s.index_bytes =
      shape.shared_indices ? static_cast<uint32_t>((shape.inner_extent * 4 + 15) / 16 * 16) : 0;
  s.tile_rows = static_cast<uint32_t>(std::clamp<int64_t>(kTileBytes / s.pitch, 1, rows));
  const int64_t tile_bytes = s.tile_rows * (int64_t{s.pitch} + int64_t{sizeof(RowPlace)});
  room.shared_bytes = s.index_bytes + 2 * tile_bytes;
  constexpr int64_t kReserved = 1024;  // of every block's shared memory, by CUDA
  room.blocks_of_multiprocessor = static_cast<int>(std::clamp<int64_t>(
      device.multiprocessor_shared_bytes / (room.shared_bytes + kReserved), 1, 4));
  room.threads = 1024 / room.blocks_of_multiprocessor;
  return room;
}

template <int kBytes, int kTogether, Indices kIndices, bool kShared>
void launch(const StagedArgs& args, Room& room, Stream stream) {
  room.staging.steps_of_row = Divisor(room.staging.inner / kTogether);
  const auto kernel = staged_kernel<kBytes, kTogether, kIndices, kShared>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(room.shared_bytes));
  const int64_t tiles = (room.staging.rows - 1) / room.staging.tile_rows + 1;
  const int64_t most = int64_t{current_device().multiprocessors} * room.blocks_of_multiprocessor;
  kernel<<<static_cast<unsigned>(std::min(tiles, most)), room.threads,
           static_cast<size_t>(room.shared_bytes), stream>>>(args, room.staging);
}

// The widest access that every address of a row allows, at most `most`.
int alignment(const StagedArgs& args, int most, bool of_data) {
  uint64_t bits = reinterpret_cast<uintptr_t>(of_data ? args.data : args.output) | 16;
  for (int l = 0; l < args.nest.loop_count(); ++l) {
    bits |= static_cast<uint64_t>(of_data ? args.nest.loops[l].data : args.nest.loops[l].output);
  }
  return std::min(most, 1 << std::countr_zero(bits));
}

// Whether the indices of `together` outputs are one aligned read.
bool indices_aligned(const StagedArgs& args, int together) {
  const int64_t width = args.nest.index_kind == Kind::kInt32 ? 4 : 8;
  auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(args.indices)) |
              static_cast<uint64_t>(args.nest.coordinates[0].offset * width);
  for (int l = 0; l < args.nest.loop_count(); ++l) {
    bits |= static_cast<uint64_t>(args.nest.loops[l].index * width);
  }
  return together == 1 || bits % static_cast<uint64_t>(together * width) == 0;
}

template <int kBytes, Indices kIndices, bool kShared>
void launch_width(const StagedArgs& args, Room& room, Stream stream) {
  constexpr int kByIndex = kShared || kIndices == Indices::kInt32 ? 4
                           : kIndices == Indices::kBits64         ? 2
                                                                  : 1;
  constexpr int kTogether = std::min(kByIndex, 16 / kBytes);
  const bool together = room.staging.inner % kTogether == 0 &&
                        alignment(args, kTogether * kBytes, false) == kTogether * kBytes &&
                        (kShared || indices_aligned(args, kTogether));
  if (together) {
    launch<kBytes, kTogether, kIndices, kShared>(args, room, stream);
  } else {  // one kernel for all that is odd
    launch<kBytes, 1, Indices::kAnyType, kShared>(args, room, stream);
  }
}

}  // namespace

bool fits_staged(const StagedShape& shape) {
  if (shape.inner_extent >= (int64_t{1} << 24) || shape.entries >= (int64_t{1} << 24) ||
      (shape.shared_indices && shape.inner_extent > kMostShared)) {
    return false;
  }
  return room_for(shape, 1).shared_bytes <= current_device().shared_bytes;
}

void launch_staged(const GatherCall& call, const StagedShape& shape) {
  Nest rows = call.nest;
  rows.loops.pop_back();
  const StagedArgs args({rows, call.data, call.indices, call.output, call.verdict, call.stream},
                        shape.entry_bytes);
  Room room = room_for(shape, args.nest.points);
  Staging& s = room.staging;
  const auto row_bits = static_cast<uint64_t>(s.row_bytes);
  s.copy_bytes = std::min(alignment(args, 16, true), 1 << std::countr_zero(row_bits | 16));
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
}

}  // namespace sheaf::cuda
