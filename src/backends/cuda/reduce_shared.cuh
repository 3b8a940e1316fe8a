// SPDX-License-Identifier: MIT
//
// The cells of a few columns in shared memory (scatter_shared.cu). Producer warps read indices and
// updates and put them to a ring, in order. One consumer warp per column takes 32 updates at a
// time; lanes that meet in one cell take turns in lane order, which is the order of the updates.
#pragma once

#include "backends/cuda/pipeline.cuh"
#include "backends/cuda/resolve.cuh"
#include "backends/cuda/scatter_shared.h"
#include "plan/reduce.h"

namespace sheaf::cuda {

// A group of columns: byte offsets, and the offset of its first index in elements.
struct SharedGroup {
  Place place;
  int columns;

  __device__ SharedGroup(const SharedArgs& args, int64_t number) {
    const int64_t point = number / args.groups_of_point;
    const int64_t first = (number - point * args.groups_of_point) * args.columns;
    place = locate(args.batch, point);
    place.data += first * args.column.data;
    place.index += first * args.column.index + args.batch.coordinates[0].offset;
    place.output += first * args.column.output;
    columns = static_cast<int>(min(int64_t{args.columns}, args.column.extent - first));
  }
};

// The parts of a block's shared memory.
template <class T>
struct SharedMemory {
  T* cells;           // [column][cell]
  T* values;          // [slot][column][update]
  uint32_t* entries;  // the same

  __device__ explicit SharedMemory(void* memory) {
    values = static_cast<T*>(memory);
    entries = reinterpret_cast<uint32_t*>(values + kSharedSlots * kSharedStage);
    cells = reinterpret_cast<T*>(entries + kSharedSlots * kSharedStage);
  }
};

// An element at any address, by bytes.
template <int kBytes>
struct Packed {
  std::byte bytes[kBytes];
};

// How elements are loaded: by one instruction, or as the alignment of T allows.
template <class T>
using Loaded = std::conditional_t<alignof(T) == sizeof(T), Word<sizeof(T)>, T>;

template <class Value>
__device__ Value load_value(const std::byte* memory) {
  if constexpr (alignof(Value) == sizeof(Value)) {
    return load_once<Value>(memory);
  } else {
    return *reinterpret_cast<const Value*>(memory);
  }
}

// What one producer thread loads for one stage.
template <class Value>
struct SharedLoads {
  int64_t raw[kSharedLoads];
  Value values[kSharedLoads];
};

template <class Value, Indices kIndices>
__device__ void load_stage(const SharedArgs& args, const SharedGroup& group, int64_t first,
                           SharedLoads<Value>& loads) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kSharedLoads; ++i) {
    const int item = thread + i * kSharedProducers;
    const int column = item & (args.columns - 1);
    const int64_t update = first + (item >> args.column_bits);
    if (update < args.updates.extent && column < group.columns) {
      loads.raw[i] = load_raw_once<kIndices>(
          args.batch.index_kind, args.call.indices,
          group.place.index + update * args.updates.index + column * args.column.index);
      loads.values[i] =
          load_value<Value>(args.call.updates + group.place.output + update * args.updates.output +
                            column * args.column.output);
    }
  }
}

// One copy serves all types of one size. The next stage is loaded before this one is put down.
template <class Value, Indices kIndices>
__device__ __noinline__ void produce_group(const SharedArgs& args, const SharedGroup& group,
                                           Ring<kSharedSlots>& ring, void* values,
                                           uint32_t* entries, uint32_t stage) {
  const int64_t rows = kSharedStage >> args.column_bits;
  const auto cells = static_cast<uint32_t>(args.cells);
  const int thread = static_cast<int>(threadIdx.x);
  SharedLoads<Value> now, next;
  load_stage<Value, kIndices>(args, group, 0, now);
  for (int64_t first = 0; first < args.updates.extent; first += rows, ++stage) {
    load_stage<Value, kIndices>(args, group, first + rows, next);
    ring.wait_empty(stage);
    const uint32_t base = ring.slot(stage) * kSharedStage;
#pragma unroll
    for (int i = 0; i < kSharedLoads; ++i) {
      const int item = thread + i * kSharedProducers;
      const int column = item & (args.columns - 1);
      const int64_t row = item >> args.column_bits;
      const uint32_t at = base + static_cast<uint32_t>(column * rows + row);
      const bool live = first + row < args.updates.extent && column < group.columns;
      entries[at] = live ? narrow_entry_of(args.batch, now.raw[i], cells) : kNarrowOutside;
      static_cast<Value*>(values)[at] = now.values[i];
    }
    ring.full[ring.slot(stage)].arrive();
    now = next;
  }
}

// kNone writes the value of the last lane; the others take turns.
template <Reduction kReduction, class T>
__device__ void reduce_step(T* cells, uint32_t entry, T value, uint32_t same) {
  const uint32_t lane = threadIdx.x & 31;
  if constexpr (kReduction == Reduction::kNone) {
    if (entry != kNarrowOutside && same >> lane == 1) {
      cells[entry] = value;
    }
  } else {
    const int turn = __popc(same & ((1U << lane) - 1));
    const int turns = __reduce_max_sync(~0U, entry == kNarrowOutside ? 0 : turn);
    for (int t = 0; t <= turns; ++t) {
      if (turn == t && entry != kNarrowOutside) {
        cells[entry] = reduced<kReduction>(cells[entry], value);
      }
      __syncwarp();
    }
  }
  __syncwarp();
}

template <Reduction kReduction, class T>
__device__ void consume_column(const SharedArgs& args, int column, Ring<kSharedSlots>& ring,
                               const SharedMemory<T>& memory, uint32_t stage) {
  constexpr int kAhead = 4;  // steps whose matching does not wait for the ones before
  const int rows = kSharedStage >> args.column_bits;
  const int lane = static_cast<int>(threadIdx.x & 31);
  T* const cells = memory.cells + column * args.cells;
  for (int64_t first = 0; first < args.updates.extent; first += rows, ++stage) {
    ring.wait_full(stage);
    const uint32_t base = ring.slot(stage) * kSharedStage + static_cast<uint32_t>(column * rows);
    const int64_t left = args.updates.extent - first;
    for (int row = 0; row < rows && row < left; row += 32 * kAhead) {
      uint32_t entries[kAhead], same[kAhead];
      T values[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        entries[i] = memory.entries[base + row + i * 32 + lane];
        values[i] = memory.values[base + row + i * 32 + lane];
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        same[i] = __match_any_sync(~0U, entries[i]);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        reduce_step<kReduction>(cells, entries[i], values[i], same[i]);
      }
    }
    __syncwarp();
    if (lane == 0) {
      ring.empty[ring.slot(stage)].arrive();
    }
  }
}

// Cells between memory and shared memory, by all threads: neighbours in a row of columns first.
template <class T, bool kLoad>
__device__ void move_cells(const SharedArgs& args, const SharedGroup& group, T* cells) {
  const auto count = static_cast<int>(args.cells << args.column_bits);
#pragma unroll 8
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const int column = i & (args.columns - 1);
    const int64_t cell = i >> args.column_bits;
    if (column < group.columns) {
      auto* const outside =
          reinterpret_cast<T*>(args.call.output + group.place.data + cell * args.cell_stride +
                               column * args.column.data);
      T& inside = cells[column * args.cells + cell];
      if constexpr (kLoad) {
        inside = *outside;
      } else {
        *outside = inside;
      }
    }
  }
}

template <Reduction kReduction, class T>
__global__ void __launch_bounds__(kMostSharedThreads)
    shared_kernel(const __grid_constant__ SharedArgs args) {
  extern __shared__ uint4 shared_memory[];
  __shared__ Ring<kSharedSlots> ring;
  const SharedMemory<T> memory(shared_memory);
  if (refused(args.call.check)) {
    return;
  }
  if (threadIdx.x == 0) {
    ring.init(kSharedProducers, args.columns);
  }
  uint32_t stage = 0;
  for (int64_t number = blockIdx.x; number < args.groups; number += gridDim.x) {
    const SharedGroup group(args, number);
    move_cells<T, true>(args, group, memory.cells);
    __syncthreads();
    if (threadIdx.x >= kSharedProducers) {
      const int column = static_cast<int>(threadIdx.x - kSharedProducers) / 32;
      consume_column<kReduction, T>(args, column, ring, memory, stage);
    } else {
      using Value = Loaded<T>;
      switch (args.indices) {
        case Indices::kInt32:
          produce_group<Value, Indices::kInt32>(args, group, ring, memory.values, memory.entries,
                                                stage);
          break;
        case Indices::kBits64:
          produce_group<Value, Indices::kBits64>(args, group, ring, memory.values, memory.entries,
                                                 stage);
          break;
        case Indices::kAnyType:
          produce_group<Value, Indices::kAnyType>(args, group, ring, memory.values, memory.entries,
                                                  stage);
          break;
      }
    }
    stage += args.stages;
    __syncthreads();
    move_cells<T, false>(args, group, memory.cells);
    __syncthreads();
  }
}

template <Reduction kReduction, class T>
void launch_shared_of(const SharedCall& call) {
  const auto kernel = shared_kernel<kReduction, T>;
  // The same for every call: threads that launch this kernel at once must not lower it for each
  // other.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(current_device().shared_bytes - kSharedStatic));
  kernel<<<call.blocks, call.threads, call.shared_bytes, call.args.call.stream>>>(call.args);
}

template <Reduction kReduction>
void launch_shared(const SharedCall& call) {
  with_element_type(call.type, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kSelects = kReduction == Reduction::kMin || kReduction == Reduction::kMax;
    if constexpr (!kSelects || !is_complex_v<T>) {
      launch_shared_of<kReduction, T>(call);
    }
  });
}

}  // namespace sheaf::cuda
