// SPDX-License-Identifier: MIT
//
// The updates of a few columns, reduced in order (shared.cu). A list is reduced by item number,
// smallest first: that is the order of the updates.
#pragma once

#include "backends/cuda/scatter/accumulate.cuh"
#include "backends/cuda/scatter/shared_lists.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

// Without reduction the last update counts.
template <class T>
struct Accumulator<Reduction::kNone, T> {
  T value;

  __device__ explicit Accumulator(T cell) : value(cell) {}
  __device__ void add(T update) { value = update; }
  __device__ T result() const { return value; }
};

// The four smallest numbers of a list, in order. Those that it does not have are kListEnd.
struct FirstFour {
  uint32_t numbers[4] = {kListEnd, kListEnd, kListEnd, kListEnd};

  __device__ void insert(uint32_t number) {
#pragma unroll
    for (uint32_t& place : numbers) {
      const uint32_t smaller = min(place, number);
      number = max(place, number);
      place = smaller;
    }
  }
};

// Reduces a list of up to tuning::Shared::kWalkedList items: four in one walk, and each of the
// others in a walk that finds the smallest number beyond the last. False if the list is longer.
template <Reduction kReduction, class T>
__device__ bool reduce_walked(const SharedMemory<T>& memory, uint32_t head,
                              Accumulator<kReduction, T>& value) {
  FirstFour first;
  uint32_t largest = head;
  int length = 0;
  for (uint32_t at = head; at != kListEnd; at = memory.next[at]) {
    first.insert(at);
    largest = max(largest, at);
    if (++length > tuning::Shared::kWalkedList) {
      return false;
    }
  }
  if constexpr (kReduction == Reduction::kNone) {
    value.add(memory.values[largest]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < length) {
        value.add(memory.values[first.numbers[i]]);
      }
    }
    for (uint32_t last = first.numbers[3]; length > 4 && last != largest;) {
      uint32_t following = largest;
      for (uint32_t at = head; at != kListEnd; at = memory.next[at]) {
        following = at > last ? min(following, at) : following;
      }
      last = following;
      value.add(memory.values[last]);
    }
  }
  return true;
}

template <class T, bool kInLines>
__device__ T* cell_memory(const SharedArgs& args, const SharedGroup& group, uint32_t slot) {
  if constexpr (kInLines) {
    return reinterpret_cast<T*>(args.call.output + group.place.data) + slot;
  }
  const uint32_t column = slot & ((1U << args.column_bits) - 1);
  return reinterpret_cast<T*>(args.call.output + group.place.data +
                              int64_t{slot >> args.column_bits} * args.cell_stride +
                              int64_t{column} * args.column.data);
}

// Lists of one item, one thread each; the others are noted. With random indices a warp that walked
// all its lists at once would wait for the longest of 32. Leaves all lists but those empty.
template <Reduction kReduction, class T, bool kInLines>
__device__ void reduce_single_items(const SharedArgs& args, const SharedGroup& group,
                                    const SharedMemory<T>& memory, ListCounts& counts) {
  const auto slots = static_cast<uint32_t>(args.cells) << args.column_bits;
  const uint32_t step = blockDim.x;
  for (uint32_t begin = threadIdx.x; begin < slots;
       begin += tuning::Shared::kCellsInFlight<T> * step) {
    uint32_t heads[tuning::Shared::kCellsInFlight<T>];
    bool single[tuning::Shared::kCellsInFlight<T>];
    T values[tuning::Shared::kCellsInFlight<T>];
#pragma unroll
    for (int i = 0; i < tuning::Shared::kCellsInFlight<T>; ++i) {
      const uint32_t slot = begin + i * step;
      heads[i] = slot < slots ? memory.head(slot) : kListEnd;
      single[i] = heads[i] != kListEnd && memory.next[heads[i]] == kListEnd;
      if (single[i]) {
        values[i] = *cell_memory<T, kInLines>(args, group, slot);
        memory.head(slot) = kListEnd;
      } else if (heads[i] != kListEnd) {
        memory.noted(take_place(counts.noted)) = static_cast<uint16_t>(slot);
      }
    }
#pragma unroll
    for (int i = 0; i < tuning::Shared::kCellsInFlight<T>; ++i) {
      if (single[i]) {
        Accumulator<kReduction, T> value(values[i]);
        value.add(memory.values[heads[i]]);
        *cell_memory<T, kInLines>(args, group, begin + i * step) = value.result();
      }
    }
  }
}

// The lists noted, one thread each; long ones are noted once more. Leaves all lists empty.
template <Reduction kReduction, class T, bool kInLines>
__device__ void reduce_noted_lists(const SharedArgs& args, const SharedGroup& group,
                                   const SharedMemory<T>& memory, ListCounts& counts) {
  for (uint32_t i = threadIdx.x; i < counts.noted; i += blockDim.x) {
    const uint32_t slot = memory.noted(i);
    T* const cell = cell_memory<T, kInLines>(args, group, slot);
    Accumulator<kReduction, T> value(*cell);
    const uint32_t head = memory.head(slot);
    memory.head(slot) = kListEnd;
    if (reduce_walked<kReduction, T>(memory, head, value)) {
      *cell = value.result();
    } else {
      memory.long_slots[atomicAdd(&counts.long_lists, 1U)] = static_cast<uint16_t>(slot);
    }
  }
}

// Long lists, one warp each, which looks through all items. All lanes compute the same.
template <Reduction kReduction, class T, bool kInLines>
__device__ void reduce_long_lists(const SharedArgs& args, const SharedGroup& group, int count,
                                  const SharedMemory<T>& memory, uint32_t long_count) {
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t i = threadIdx.x / 32; i < long_count; i += blockDim.x / 32) {
    const uint32_t slot = memory.long_slots[i];
    T* const outside = cell_memory<T, kInLines>(args, group, slot);
    Accumulator<kReduction, T> value(*outside);
    for (int first = 0; first < count; first += 32) {
      const int item = first + static_cast<int>(lane);
      uint32_t mine = __ballot_sync(~0U, item < count && memory.slots[item] == slot);
      if (mine == ~0U) {
#pragma unroll 8
        for (int u = 0; u < 32; ++u) {
          value.add(memory.values[first + u]);
        }
      }
      for (mine = mine == ~0U ? 0 : mine; mine != 0; mine &= mine - 1) {
        value.add(memory.values[first + __ffs(static_cast<int>(mine)) - 1]);
      }
    }
    if (lane == 0) {
      *outside = value.result();
    }
  }
}

// By all threads of a block: the lists of `count` items from `first` on. Leaves them empty, and
// `next_counts` 0.
template <Reduction kReduction, class T, bool kInLines>
__device__ void reduce_lists(const SharedArgs& args, const SharedGroup& group, int64_t first,
                             int count, const SharedMemory<T>& memory, ListCounts& counts,
                             ListCounts& next_counts) {
  if (threadIdx.x == 0) {
    next_counts = {};
  }
  reduce_single_items<kReduction, T, kInLines>(args, group, memory, counts);
  __syncthreads();
  reduce_noted_lists<kReduction, T, kInLines>(args, group, memory, counts);
  __syncthreads();
  const uint32_t long_lists = counts.long_lists;
  if (long_lists > 0) {
    find_slots<T, kInLines>(args, group, first, count, memory);
    __syncthreads();
    reduce_long_lists<kReduction, T, kInLines>(args, group, count, memory, long_lists);
    __syncthreads();
  }
}

template <Reduction kReduction, class T, bool kInLines>
__global__ void __launch_bounds__(tuning::Shared::kMostThreads)
    shared_kernel(const __grid_constant__ SharedArgs args) {
  extern __shared__ uint4 shared_memory[];
  __shared__ ListCounts counts[2];  // taking turns: one is emptied while the other is used
  const SharedMemory<T> memory(args, shared_memory);
  if (refused(args.call.check)) {
    return;
  }
  for (int slot = static_cast<int>(threadIdx.x); slot < args.cells << args.column_bits;
       slot += static_cast<int>(blockDim.x)) {
    memory.heads[slot] = kListEnd;
  }
  if (threadIdx.x == 0) {
    counts[0] = {};
  }
  __syncthreads();
  int turn = 0;
  for (int64_t number = blockIdx.x; number < args.groups; number += gridDim.x) {
    const SharedGroup group(args, number);
    const int64_t items = args.updates.extent << args.column_bits;
    for (int64_t first = 0; first < items; first += args.chunk) {
      const auto count = static_cast<int>(min(int64_t{args.chunk}, items - first));
      with_indices(args.indices, [&](auto indices) {
        make_lists<T, kInLines, indices()>(args, group, first, count, memory);
      });
      __syncthreads();
      if (first + args.chunk >= items) {
        prefetch_group(args, number + gridDim.x, sizeof(T));
      }
      reduce_lists<kReduction, T, kInLines>(args, group, first, count, memory, counts[turn],
                                            counts[1 - turn]);
      turn = 1 - turn;
    }
  }
}

// Types with a separate kernel for columns in lines: others are not worth the code.
template <class T>
inline constexpr bool kHasLines = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                  std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>;

template <Reduction kReduction, class T>
void launch_shared_of(const SharedCall& call) {
  auto kernel = shared_kernel<kReduction, T, false>;
  if constexpr (kHasLines<T>) {
    kernel = call.args.in_lines ? shared_kernel<kReduction, T, true> : kernel;
  }
  // The same for every call: concurrent launches must not lower each other's limit.
  cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
      static_cast<int>(current_device().shared_bytes - tuning::Shared::kStaticBytes));
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
