// SPDX-License-Identifier: MIT
//
// Columns of few cells, reduced in order (private.cu): a thread goes through the updates of
// a column one after the other, with the column's cells in shared memory.
#pragma once

#include <algorithm>

#include "backends/cuda/kernel/pipeline.cuh"
#include "backends/cuda/scatter/accumulate.cuh"
#include "backends/cuda/scatter/private.h"
#include "backends/cuda/scatter/shared_lists.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

// Not inlined: few indices come here.
__device__ __noinline__ inline uint32_t entry_by_rule(const AnyNest& nest, int64_t raw,
                                                      uint32_t extent) {
  return narrow_entry_of(nest, raw, extent);
}

// A thread's column: its place in the tensors, and its cells.
template <Reduction kReduction, class T>
struct PrivateColumn {
  const PrivateArgs& args;
  Place place;
  T* cells;  // in shared memory, kWarp apart: no two threads meet in a bank

  __device__ T* memory_of(int cell) const {
    return reinterpret_cast<T*>(args.call.output + place.data + cell * args.cell_stride);
  }
  __device__ void load_cells() const {
    for (int cell = 0; cell < args.cells; ++cell) {
      cells[cell * kWarp] = *memory_of(cell);
    }
  }
  __device__ void store_cells() const {
    for (int cell = 0; cell < args.cells; ++cell) {
      *memory_of(cell) = cells[cell * kWarp];
    }
  }
  __device__ void reduce(uint32_t number, T update) const {
    T& cell = cells[number * kWarp];
    Accumulator<kReduction, T> value(cell);
    value.add(update);
    cell = value.result();
  }
  __device__ void apply(int64_t raw, T update) const {
    const uint32_t number = entry_by_rule(args.batch, raw, static_cast<uint32_t>(args.cells));
    if (number != kNarrowOutside) {
      reduce(number, update);
    }
  }
  // Applying the rule to every index would take longer than everything else: where none of four
  // needs it, they are used as they are.
  __device__ void apply_four(const int64_t* raw, const T* updates) const {
    const auto extent = static_cast<uint32_t>(args.cells);
    bool plain = true;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      plain = plain && static_cast<uint64_t>(raw[i]) < extent;
    }
    if (plain) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        reduce(static_cast<uint32_t>(raw[i]), updates[i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        apply(raw[i], updates[i]);
      }
    }
  }
};

// The updates of columns that are neighbours: neighbouring threads read neighbouring elements. The
// next updates are in flight while these are reduced.
template <Reduction kReduction, class T>
struct UpdatesAcross {
  const PrivateColumn<kReduction, T>& column;
  int64_t raw[tuning::Private::kAhead];
  T updates[tuning::Private::kAhead];

  __device__ void load(int64_t first) {
    const PrivateArgs& args = column.args;
#pragma unroll
    for (int i = 0; i < tuning::Private::kAhead; ++i) {
      if (first + i < args.updates.extent) {
        const std::byte* const index =
            args.call.indices +
            (column.place.index + (first + i) * args.updates.index) * args.index_bytes;
        raw[i] = args.index_bytes == 8 ? load_once<long long>(index) : load_once<int32_t>(index);
        updates[i] = load_element<T>(args.call.updates + column.place.output +
                                     (first + i) * args.updates.output);
      }
    }
  }
  __device__ void apply_all() {
    const int64_t count = column.args.updates.extent;
    load(0);
    for (int64_t first = 0; first < count; first += tuning::Private::kAhead) {
      const UpdatesAcross now = *this;
      load(first + tuning::Private::kAhead);
      if (first + tuning::Private::kAhead <= count) {
#pragma unroll
        for (int i = 0; i < tuning::Private::kAhead; i += 4) {
          column.apply_four(now.raw + i, now.updates + i);
        }
      } else {
#pragma unroll
        for (int i = 0; i < tuning::Private::kAhead; ++i) {
          if (first + i < count) {
            column.apply(now.raw[i], now.updates[i]);
          }
        }
      }
    }
  }
};

// The updates and indices of columns that are lines of memory. The threads of a warp copy a part of
// all their lines to shared memory together, while they reduce the part before.
template <Reduction kReduction, class T>
struct UpdatesInLines {
  struct alignas(std::min<size_t>(4 * sizeof(T), kWordBytes)) Four {
    T values[4];
  };
  static constexpr int kUpdatesPitch = tuning::Private::kPart * int{sizeof(T)} + kWordBytes;

  const PrivateColumn<kReduction, T>& column;
  std::byte* memory;

  __device__ int indices_pitch() const {
    return tuning::Private::kPart * column.args.index_bytes + kWordBytes;
  }
  __device__ std::byte* indices_of(int64_t part) const {
    return memory + part % tuning::Private::kStages * column.args.stage_bytes;
  }
  __device__ std::byte* updates_of(int64_t part) const {
    return indices_of(part) + kWarp * indices_pitch();
  }

  // Copies bytes [begin, begin + bytes) of the lines of all threads, as far as lines go; `line` is
  // where this thread's begins.
  static __device__ void start_copy(const std::byte* line, int64_t line_bytes, int64_t begin,
                                    int bytes, std::byte* to) {
    const int words = bytes / kWordBytes;
    for (int i = 0; i < words; ++i) {
      const int word = i * kWarp + static_cast<int>(threadIdx.x);
      const int of = word / words;
      const int at = (word - of * words) * kWordBytes;
      const auto* const from = reinterpret_cast<const std::byte*>(
          __shfl_sync(~0U, reinterpret_cast<unsigned long long>(line), of));
      if (begin + at < line_bytes) {
        copy_async<kWordBytes>(to + of * (bytes + kWordBytes) + at, from + begin + at);
      }
    }
  }
  __device__ void start(int64_t part) const {
    const PrivateArgs& args = column.args;
    const int part_of_indices = tuning::Private::kPart * args.index_bytes;
    constexpr int kPartOfUpdates = tuning::Private::kPart * int{sizeof(T)};
    start_copy(args.call.indices + column.place.index * args.index_bytes,
               args.updates.extent * args.index_bytes, part * part_of_indices, part_of_indices,
               indices_of(part));
    start_copy(args.call.updates + column.place.output, args.updates.extent * int64_t{sizeof(T)},
               part * kPartOfUpdates, kPartOfUpdates, updates_of(part));
  }

  static __device__ void load_four(const std::byte* indices, int bytes, int64_t (&raw)[4]) {
    if (bytes == 8) {
      const auto* const pairs = reinterpret_cast<const longlong2*>(indices);
      raw[0] = pairs[0].x;
      raw[1] = pairs[0].y;
      raw[2] = pairs[1].x;
      raw[3] = pairs[1].y;
    } else {
      const int4 four = *reinterpret_cast<const int4*>(indices);
      raw[0] = four.x;
      raw[1] = four.y;
      raw[2] = four.z;
      raw[3] = four.w;
    }
  }
  __device__ void apply(int64_t part) const {
    const int bytes = column.args.index_bytes;
    const auto lane = static_cast<int>(threadIdx.x);
    const std::byte* const indices = indices_of(part) + lane * indices_pitch();
    const auto* const updates = reinterpret_cast<const T*>(updates_of(part) + lane * kUpdatesPitch);
    const auto count =
        static_cast<int>(min(int64_t{tuning::Private::kPart},
                             column.args.updates.extent - part * tuning::Private::kPart));
    int i = 0;
    for (; i + 4 <= count; i += 4) {
      int64_t raw[4];
      load_four(indices + i * bytes, bytes, raw);
      const Four four = *reinterpret_cast<const Four*>(updates + i);
      column.apply_four(raw, four.values);
    }
    for (; i < count; ++i) {
      column.apply(bytes == 8 ? reinterpret_cast<const long long*>(indices)[i]
                              : reinterpret_cast<const int32_t*>(indices)[i],
                   updates[i]);
    }
  }

  __device__ void apply_all(bool live) const {
    static_assert(tuning::Private::kStages == 2);
    const int64_t parts = (column.args.updates.extent - 1) / tuning::Private::kPart + 1;
    start(0);
    for (int64_t part = 0; part < parts; ++part) {
      wait_for_copies();
      __syncwarp();  // this part is visible to all, and the one before is no longer read
      if (part + 1 < parts) {
        start(part + 1);
      }
      if (live) {
        apply(part);
      }
    }
    __syncwarp();
  }
};

// Blocks are single warps.
template <Reduction kReduction, class T, bool kInLines>
__global__ void __launch_bounds__(kWarp) private_kernel(const __grid_constant__ PrivateArgs args) {
  extern __shared__ uint4 shared_memory[];
  auto* const memory = reinterpret_cast<std::byte*>(shared_memory);
  if (refused(args.call.check)) {
    return;
  }
  const int64_t columns = args.batch.points;
  for (int64_t first = int64_t{blockIdx.x} * kWarp; first < columns;
       first += int64_t{gridDim.x} * kWarp) {
    const int64_t number = first + threadIdx.x;
    const bool live = number < columns;
    Place place = locate(args.batch, live ? number : columns - 1);
    place.index += args.batch.coordinates[0].offset;
    const PrivateColumn<kReduction, T> column{
        args, place,
        reinterpret_cast<T*>(memory + tuning::Private::kStages * args.stage_bytes) + threadIdx.x};
    if (live) {
      column.load_cells();
    }
    if constexpr (kInLines) {
      UpdatesInLines<kReduction, T>{column, memory}.apply_all(live);
    } else if (live) {
      UpdatesAcross<kReduction, T>{column}.apply_all();
    }
    if (live) {
      column.store_cells();
    }
  }
}

template <Reduction kReduction, class T>
void launch_private_of(const PrivateCall& call) {
  const auto kernel = call.args.stage_bytes != 0 ? private_kernel<kReduction, T, true>
                                                 : private_kernel<kReduction, T, false>;
  // The same for every call: concurrent launches must not lower each other's limit.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(current_device().shared_bytes));
  kernel<<<call.blocks, kWarp, call.shared_bytes, call.args.call.stream>>>(call.args);
}

// Types that cuda.private takes: others are not worth the code.
template <class T>
inline constexpr bool kHasPrivate =
    std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || std::is_floating_point_v<T> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

template <Reduction kReduction>
void launch_private(const PrivateCall& call) {
  with_element_type(call.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kHasPrivate<T>) {
      launch_private_of<kReduction, T>(call);
    }
  });
}

}  // namespace sheaf::cuda
