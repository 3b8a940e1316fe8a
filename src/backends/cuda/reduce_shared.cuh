// SPDX-License-Identifier: MIT
//
// The updates of a few columns, put into lists by cell in shared memory (scatter_shared.cu). Lists
// are made in any order, by all threads at once; who reduces a list takes its items by their
// numbers, smallest first, which is their order.
#pragma once

#include "backends/cuda/accumulate.cuh"
#include "backends/cuda/scatter_shared.h"

namespace sheaf::cuda {

inline constexpr uint32_t kListEnd = 0xFFFF;

// An element at any address, by bytes.
template <int kBytes>
struct Packed {
  std::byte bytes[kBytes];
};

// How elements are loaded: by one instruction, or as the alignment of T allows.
template <class T>
__device__ T load_element(const std::byte* memory) {
  if constexpr (alignof(T) == sizeof(T)) {
    const auto word = load_once<Word<sizeof(T)>>(memory);
    return *reinterpret_cast<const T*>(&word);
  } else {
    return *reinterpret_cast<const T*>(memory);
  }
}

// Without reduction the last update counts.
template <class T>
struct Accumulator<Reduction::kNone, T> {
  T value;

  __device__ explicit Accumulator(T cell) : value(cell) {}
  __device__ void add(T update) { value = update; }
  __device__ T result() const { return value; }
};

// The parts of a block's shared memory.
template <class T>
struct SharedMemory {
  T* values;        // by item
  uint32_t* heads;  // by slot: the first item of its list, or kListEnd
  uint16_t* next;   // by item: the next one of its list, or kListEnd
  uint16_t* slots;  // by item
  uint16_t* long_slots;

  __device__ SharedMemory(const SharedArgs& args, void* memory) {
    values = static_cast<T*>(memory);
    heads = reinterpret_cast<uint32_t*>(values + args.chunk);
    next = reinterpret_cast<uint16_t*>(heads + (args.cells << args.column_bits));
    slots = next + args.chunk;
    long_slots = slots + args.chunk;
  }
};

// A group's place in the tensors, and how many columns it has.
struct SharedGroup {
  Place place;
  int columns;

  __device__ SharedGroup(const SharedArgs& args, int64_t number) {
    const int64_t point = number / args.groups_of_point;
    const int64_t first = (number - point * args.groups_of_point) << args.column_bits;
    place = locate(args.batch, point);
    place.data += first * args.column.data;
    place.index += first * args.column.index + args.batch.coordinates[0].offset;
    place.output += first * args.column.output;
    columns = static_cast<int>(min(int64_t{1} << args.column_bits, args.column.extent - first));
  }
};

// Items [first, first + count) of a group, into lists.
template <class T, Indices kIndices>
__device__ void make_lists(const SharedArgs& args, const SharedGroup& group, int64_t first,
                           int count, const SharedMemory<T>& memory) {
  constexpr int kInFlight = 4;
  const int bits = args.column_bits;
  const int column_mask = (1 << bits) - 1;
  const std::byte* updates =
      args.call.updates + group.place.output + (first >> bits) * args.updates.output;
  const int64_t index = group.place.index + (first >> bits) * args.updates.index;
  const auto cells = static_cast<uint32_t>(args.cells);
  const int step = static_cast<int>(blockDim.x);
  for (int begin = static_cast<int>(threadIdx.x); begin < count; begin += kInFlight * step) {
    int64_t raw[kInFlight];
    T values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int item = begin + i * step;
      const int column = item & column_mask;
      const int64_t update = item >> bits;
      if (item < count && column < group.columns) {
        raw[i] = load_raw_once<kIndices>(
            args.batch.index_kind, args.call.indices,
            index + update * args.updates.index + column * args.column.index);
        values[i] =
            load_element<T>(updates + update * args.updates.output + column * args.column.output);
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int item = begin + i * step;
      const int column = item & column_mask;
      if (item < count) {
        const uint32_t cell =
            column < group.columns ? narrow_entry_of(args.batch, raw[i], cells) : kNarrowOutside;
        const uint32_t slot = (cell << bits) + static_cast<uint32_t>(column);
        memory.values[item] = values[i];
        memory.slots[item] = static_cast<uint16_t>(cell == kNarrowOutside ? kListEnd : slot);
        if (cell != kNarrowOutside) {
          memory.next[item] =
              static_cast<uint16_t>(atomicExch(memory.heads + slot, static_cast<uint32_t>(item)));
        }
      }
    }
  }
}

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

// Reduces a list of up to kWalkedList items: four in one walk, and each of the others in a walk
// that finds the smallest number beyond the last. False if the list is longer.
template <Reduction kReduction, class T>
__device__ bool reduce_walked(const SharedMemory<T>& memory, uint32_t head,
                              Accumulator<kReduction, T>& value) {
  FirstFour first;
  uint32_t largest = head;
  int length = 0;
  for (uint32_t at = head; at != kListEnd; at = memory.next[at]) {
    first.insert(at);
    largest = max(largest, at);
    if (++length > kWalkedList) {
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

template <class T>
__device__ T* cell_memory(const SharedArgs& args, const SharedGroup& group, uint32_t slot) {
  const uint32_t column = slot & ((1U << args.column_bits) - 1);
  return reinterpret_cast<T*>(args.call.output + group.place.data +
                              int64_t{slot >> args.column_bits} * args.cell_stride +
                              int64_t{column} * args.column.data);
}

// Short lists, one thread each; long ones are noted. Leaves all lists empty.
template <Reduction kReduction, class T>
__device__ void reduce_short_lists(const SharedArgs& args, const SharedGroup& group,
                                   const SharedMemory<T>& memory, uint32_t& long_count) {
  constexpr int kInFlight = 4;
  const auto slots = static_cast<uint32_t>(args.cells) << args.column_bits;
  const uint32_t step = blockDim.x;
  for (uint32_t begin = threadIdx.x; begin < slots; begin += kInFlight * step) {
    uint32_t heads[kInFlight];
    T values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const uint32_t slot = begin + i * step;
      heads[i] = slot < slots ? memory.heads[slot] : kListEnd;
      if (heads[i] != kListEnd) {
        values[i] = *cell_memory<T>(args, group, slot);
        memory.heads[slot] = kListEnd;
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const uint32_t slot = begin + i * step;
      if (heads[i] != kListEnd) {
        Accumulator<kReduction, T> value(values[i]);
        if (reduce_walked<kReduction, T>(memory, heads[i], value)) {
          *cell_memory<T>(args, group, slot) = value.result();
        } else {
          memory.long_slots[atomicAdd(&long_count, 1U)] = static_cast<uint16_t>(slot);
        }
      }
    }
  }
}

// Long lists, one warp each, which looks through all items. All lanes compute the same.
template <Reduction kReduction, class T>
__device__ void reduce_long_lists(const SharedArgs& args, const SharedGroup& group, int count,
                                  const SharedMemory<T>& memory, uint32_t long_count) {
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t i = threadIdx.x / 32; i < long_count; i += blockDim.x / 32) {
    const uint32_t slot = memory.long_slots[i];
    T* const outside = cell_memory<T>(args, group, slot);
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

// By all threads of a block.
__device__ inline void prefetch_lines(const std::byte* memory, int64_t bytes) {
  for (int64_t at = int64_t{threadIdx.x} * kLineBytes; at < bytes;
       at += int64_t{blockDim.x} * kLineBytes) {
    prefetch(memory + at);
  }
}

// What the block's next group reads, so that it is on its way while lists are reduced.
__device__ inline void prefetch_group(const SharedArgs& args, int64_t number, int element_bytes) {
  if (number < args.groups && args.in_lines) {
    const SharedGroup group(args, number);
    prefetch_lines(args.call.indices + group.place.index * args.index_bytes,
                   args.updates.extent * args.index_bytes);
    prefetch_lines(args.call.updates + group.place.output, args.updates.extent * element_bytes);
    prefetch_lines(args.call.output + group.place.data, int64_t{args.cells} * element_bytes);
  }
}

template <Reduction kReduction, class T>
__global__ void __launch_bounds__(kMostSharedThreads)
    shared_kernel(const __grid_constant__ SharedArgs args) {
  extern __shared__ uint4 shared_memory[];
  __shared__ uint32_t long_count;
  const SharedMemory<T> memory(args, shared_memory);
  if (refused(args.call.check)) {
    return;
  }
  for (int slot = static_cast<int>(threadIdx.x); slot < args.cells << args.column_bits;
       slot += static_cast<int>(blockDim.x)) {
    memory.heads[slot] = kListEnd;
  }
  if (threadIdx.x == 0) {
    long_count = 0;
  }
  __syncthreads();
  for (int64_t number = blockIdx.x; number < args.groups; number += gridDim.x) {
    const SharedGroup group(args, number);
    const int64_t items = args.updates.extent << args.column_bits;
    for (int64_t first = 0; first < items; first += args.chunk) {
      const auto count = static_cast<int>(min(int64_t{args.chunk}, items - first));
      switch (args.indices) {
        case Indices::kInt32:
          make_lists<T, Indices::kInt32>(args, group, first, count, memory);
          break;
        case Indices::kBits64:
          make_lists<T, Indices::kBits64>(args, group, first, count, memory);
          break;
        case Indices::kAnyType:
          make_lists<T, Indices::kAnyType>(args, group, first, count, memory);
          break;
      }
      __syncthreads();
      if (first + args.chunk >= items) {
        prefetch_group(args, number + gridDim.x, sizeof(T));
      }
      reduce_short_lists<kReduction, T>(args, group, memory, long_count);
      __syncthreads();
      const uint32_t found = long_count;
      if (found > 0) {
        reduce_long_lists<kReduction, T>(args, group, count, memory, found);
        __syncthreads();
        if (threadIdx.x == 0) {
          long_count = 0;
        }
        __syncthreads();
      }
    }
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
