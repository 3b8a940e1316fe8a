// SPDX-License-Identifier: MIT
//
// The updates of a few columns, put into lists by cell in shared memory, for reduce_shared.cuh.
// Lists are made in any order, by all threads at once.
#pragma once

#include "backends/cuda/scatter/shared.h"
#include "backends/cuda/tuning.h"

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

// The parts of a block's shared memory.
template <class T>
struct SharedMemory {
  T* values;        // by item
  uint32_t* heads;  // by slot, in the low half: the first item of its list, or kListEnd
  uint16_t* next;   // by item: the next one of its list, or kListEnd
  uint16_t* slots;  // by item, once there are long lists
  uint16_t* long_slots;

  __device__ SharedMemory(const SharedArgs& args, void* memory) {
    values = static_cast<T*>(memory);
    heads = reinterpret_cast<uint32_t*>(values + args.chunk);
    next = reinterpret_cast<uint16_t*>(heads + (args.cells << args.column_bits));
    slots = next + args.chunk;
    long_slots = slots + args.chunk;
  }
  __device__ uint16_t& head(uint32_t slot) const {
    return reinterpret_cast<uint16_t*>(heads)[2 * slot];
  }
  // Slots of lists of several items, in the high halves of the heads, which are free once lists are
  // made.
  __device__ uint16_t& noted(uint32_t number) const {
    return reinterpret_cast<uint16_t*>(heads)[2 * number + 1];
  }
};

// How many lists of several items, and how many long ones, a block has found.
struct ListCounts {
  uint32_t noted, long_lists;
};

// The next free place of a list that many threads append to: one addition for all active lanes.
__device__ inline uint32_t take_place(uint32_t& count) {
  const uint32_t lanes = __activemask();
  const uint32_t lane = threadIdx.x % 32;
  const int leader = __ffs(static_cast<int>(lanes)) - 1;
  uint32_t first = 0;
  if (static_cast<int>(lane) == leader) {
    first = atomicAdd(&count, static_cast<uint32_t>(__popc(lanes)));
  }
  return __shfl_sync(lanes, first, leader) +
         static_cast<uint32_t>(__popc(lanes & ((1U << lane) - 1)));
}

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

// Items of a group from `first` on. kInLines: args.in_lines is known to be true.
template <bool kInLines, Indices kIndices>
struct GroupItems {
  const SharedArgs& args;
  int bits, columns;
  int64_t index_stride, index, update;

  __device__ GroupItems(const SharedArgs& all, const SharedGroup& group, int64_t first)
      : args(all), bits(kInLines ? 0 : args.column_bits), columns(group.columns) {
    index_stride = kInLines ? 1 : args.updates.index;
    index = group.place.index + (first >> bits) * index_stride;
    update = group.place.output + (first >> bits) * args.updates.output;
  }
  __device__ int column(int item) const { return kInLines ? 0 : item & ((1 << bits) - 1); }
  __device__ bool is_there(int item) const { return kInLines || column(item) < columns; }
  __device__ int64_t raw(int item) const {
    return load_raw_once<kIndices>(
        args.batch.index_kind, args.call.indices,
        index + int64_t{item >> bits} * index_stride + column(item) * args.column.index);
  }
  template <class T>
  __device__ T value(int item) const {
    const int64_t stride = kInLines ? int64_t{sizeof(T)} : args.updates.output;
    return load_element<T>(args.call.updates + update + int64_t{item >> bits} * stride +
                           column(item) * args.column.output);
  }
  // kListEnd if it leads nowhere.
  __device__ uint32_t slot(int item, int64_t raw) const {
    const uint32_t cell = narrow_entry_of(args.batch, raw, static_cast<uint32_t>(args.cells));
    return cell == kNarrowOutside ? kListEnd : (cell << bits) + static_cast<uint32_t>(column(item));
  }
};

// Puts `count` items of a group from `first` on into lists.
template <class T, bool kInLines, Indices kIndices>
__device__ void make_lists(const SharedArgs& args, const SharedGroup& group, int64_t first,
                           int count, const SharedMemory<T>& memory) {
  const GroupItems<kInLines, kIndices> items(args, group, first);
  const int step = static_cast<int>(blockDim.x);
  for (int begin = static_cast<int>(threadIdx.x); begin < count;
       begin += tuning::Shared::kListsInFlight<T> * step) {
    int64_t raw[tuning::Shared::kListsInFlight<T>];
    T values[tuning::Shared::kListsInFlight<T>];
#pragma unroll
    for (int i = 0; i < tuning::Shared::kListsInFlight<T>; ++i) {
      const int item = begin + i * step;
      if (item < count && items.is_there(item)) {
        raw[i] = items.raw(item);
        values[i] = items.template value<T>(item);
      }
    }
#pragma unroll
    for (int i = 0; i < tuning::Shared::kListsInFlight<T>; ++i) {
      const int item = begin + i * step;
      if (item < count && items.is_there(item)) {
        memory.values[item] = values[i];
        const uint32_t slot = items.slot(item, raw[i]);
        if (slot != kListEnd) {
          memory.next[item] =
              static_cast<uint16_t>(atomicExch(memory.heads + slot, static_cast<uint32_t>(item)));
        }
      }
    }
  }
}

// Stores the slot of every item, for long lists only: doing so while lists are made would cost
// every call.
template <class T, bool kInLines>
__device__ void find_slots(const SharedArgs& args, const SharedGroup& group, int64_t first,
                           int count, const SharedMemory<T>& memory) {
  const GroupItems<kInLines, Indices::kAnyType> items(args, group, first);
  for (int item = static_cast<int>(threadIdx.x); item < count;
       item += static_cast<int>(blockDim.x)) {
    const uint32_t slot = items.is_there(item) ? items.slot(item, items.raw(item)) : kListEnd;
    memory.slots[item] = static_cast<uint16_t>(slot);
  }
}

// By all threads of a block.
__device__ inline void prefetch_lines(const std::byte* memory, int64_t bytes) {
  for (int64_t at = int64_t{threadIdx.x} * kLineBytes; at < bytes;
       at += int64_t{blockDim.x} * kLineBytes) {
    prefetch(memory + at);
  }
}

// Prefetches what the block's next group reads, while lists are reduced.
__device__ inline void prefetch_group(const SharedArgs& args, int64_t number, int element_bytes) {
  if (number < args.groups && args.in_lines) {
    const SharedGroup group(args, number);
    prefetch_lines(args.call.indices + group.place.index * args.index_bytes,
                   args.updates.extent * args.index_bytes);
    prefetch_lines(args.call.updates + group.place.output, args.updates.extent * element_bytes);
    prefetch_lines(args.call.output + group.place.data, int64_t{args.cells} * element_bytes);
  }
}

}  // namespace sheaf::cuda
