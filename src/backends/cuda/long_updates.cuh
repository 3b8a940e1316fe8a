// SPDX-License-Identifier: MIT
//
// Brings the updates of a long list to shared memory, for reduce_long.cuh: a ring of stages that
// producer warps fill.
#pragma once

#include <cstdlib>

#include "backends/cuda/pipeline.cuh"
#include "backends/cuda/reduce.cuh"

namespace sheaf::cuda {

inline constexpr int kLongProducers = 256;
inline constexpr int kLongThreads = kLongProducers + 32;
inline constexpr int kLongSlots = 6;
inline constexpr int kStageUpdates = kLongProducers;  // one per lane of the producers
inline constexpr int kGroupBytes = 64;  // elements of a cell that a block reduces at a time
inline constexpr int kLongSlotBytes = kStageUpdates * kGroupBytes + 256;

// How a stage lies in shared memory. Elements of 4 bytes and more are stored by element: the
// consumer loads several updates of its element at once, for a load per update would keep it
// waiting. Smaller elements are stored by update: copies from global memory have 4 bytes at least.
template <class T>
struct StageLayout {
  static constexpr bool kByElement = sizeof(T) >= 4;
  static constexpr int kElements = std::min<int>(32, kGroupBytes / int{sizeof(T)});  // of a group
  static constexpr int kPack = kByElement ? 16 / int{sizeof(T)} : 1;  // updates per load
  static constexpr int kUpdateStride = (kByElement ? 1 : kElements) * int{sizeof(T)};
  // 16 bytes apart from a multiple of all banks, so that neighbouring lanes use different ones.
  static constexpr int kElementStride =
      kByElement ? kStageUpdates * int{sizeof(T)} + 16 : int{sizeof(T)};
  static_assert((kElements - 1) * kElementStride + kStageUpdates * kUpdateStride <= kLongSlotBytes);
};

struct LongArgs {
  ReduceArgs reduce;
  int64_t row_elements, element_bytes;
  int64_t groups_of_row, groups;  // of a row; of a cell
  int group_elements;
  int word_bytes;             // by which updates are copied
  int run_bytes, run_stride;  // bytes of an update that stay together in a stage, and their places
  int update_stride;          // in a stage
  bool turned;                // produce_turned() copies them
  int far;
};

// One list and one group of its cell's elements.
struct LongItem {
  List list;
  int64_t output, updates;  // byte offsets of the group
  int lanes;                // elements
  int words;                // of an update
  int64_t count;            // updates
  uint32_t stages;

  __device__ LongItem(const LongArgs& args, int64_t item, int64_t huge)
      : list(args.reduce, list_number(args, item / args.groups, huge), list_count(args.reduce)) {
    const int64_t group = item % args.groups;
    const int64_t slice = group / args.groups_of_row;
    const int64_t first = (group - slice * args.groups_of_row) * args.group_elements;
    const Place place = locate(args.reduce.slices, slice);
    output = list.cell + place.data + first * args.element_bytes;
    updates = place.output + first * args.element_bytes;
    lanes = static_cast<int>(min(int64_t{args.group_elements}, args.row_elements - first));
    words = lanes * static_cast<int>(args.element_bytes) / args.word_bytes;
    count = list.end - list.begin;
    stages = static_cast<uint32_t>((count - 1) / kStageUpdates + 1);
  }

  // Huge lists are noted from the front on, the others from the back.
  __device__ static int64_t list_number(const LongArgs& args, int64_t at, int64_t huge) {
    const SortedTuples& sorted = args.reduce.sorted;
    const int64_t slot = at < huge ? at : sorted.long_capacity - 1 - (at - huge);
    return static_cast<int64_t>(sorted.long_lists[slot]);
  }
};

// The byte offset of a tuple's update. Most scatters have one loop over tuples.
struct UpdateOffset {
  const AnyNest& tuples;
  int64_t stride;
  bool one_loop;

  __device__ explicit UpdateOffset(const AnyNest& nest)
      : tuples(nest), stride(nest.loops[0].output), one_loop(nest.any_loops == 1) {}
  __device__ int64_t operator()(int64_t tuple) const {
    return one_loop ? tuple * stride : locate(tuples, tuple).output;
  }
};

// The words that a lane copies of every update it has a part in: at most two, for a group has at
// most 64 words.
template <int kWord>
struct LaneWords {
  static constexpr int kMost = kGroupBytes / kWord > 32 ? 2 : 1;
  int from[kMost], to[kMost];  // byte offsets in an update, and in a stage
  int count = 0;

  __device__ LaneWords(const LongArgs& args, int first, int words) {
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      from[i] = (first + 32 * i) * kWord;
      to[i] = from[i] / args.run_bytes * args.run_stride + from[i] % args.run_bytes;
      count += first + 32 * i < words ? 1 : 0;
    }
  }
  __device__ void copy(std::byte* stage, const std::byte* update) const {
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      if (i < count) {
        if constexpr (kWord >= 4) {
          copy_async<kWord>(stage + to[i], update + from[i]);
        } else {
          *reinterpret_cast<Word<kWord>*>(stage + to[i]) = load_once<Word<kWord>>(update + from[i]);
        }
      }
    }
  }
};

// A block of four updates and 16 bytes, kBytes being those of an element: what a lane has of each
// update goes to different elements of a stage.
template <int kBytes>
__device__ void store_turned(std::byte* to, const uint4 (&rows)[4], int run_stride) {
  const auto at = [&](int element, int update) {
    return reinterpret_cast<uint4*>(to + element * run_stride + update * kBytes);
  };
  if constexpr (kBytes == 4) {
    *at(0, 0) = make_uint4(rows[0].x, rows[1].x, rows[2].x, rows[3].x);
    *at(1, 0) = make_uint4(rows[0].y, rows[1].y, rows[2].y, rows[3].y);
    *at(2, 0) = make_uint4(rows[0].z, rows[1].z, rows[2].z, rows[3].z);
    *at(3, 0) = make_uint4(rows[0].w, rows[1].w, rows[2].w, rows[3].w);
  } else {
    *at(0, 0) = make_uint4(rows[0].x, rows[0].y, rows[1].x, rows[1].y);
    *at(0, 2) = make_uint4(rows[2].x, rows[2].y, rows[3].x, rows[3].y);
    *at(1, 0) = make_uint4(rows[0].z, rows[0].w, rows[1].z, rows[1].w);
    *at(1, 2) = make_uint4(rows[2].z, rows[2].w, rows[3].z, rows[3].w);
  }
}

// Updates in words of 16 bytes, of elements of 4 or 8 bytes: they pass through registers, where
// they are turned from updates into elements. Four lanes have the four words of a group, and each
// of them four updates. What is loaded is on its way for two stages; so are the numbers of tuples
// before.
template <int kBytes>
__device__ void produce_turned(const LongArgs& args, const LongItem& item, Ring<kLongSlots>& ring,
                               std::byte* memory, uint32_t first_stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int mine = static_cast<int>(threadIdx.x) - 32;  // update of a stage that the lane finds
  const bool live = lane % 4 < item.words;
  const int word = live ? lane % 4 : 0;
  const int first_update = lane / 4 * 4;  // of the warp's
  const uint32_t stages = item.stages;
  const int64_t count = item.count;
  const std::byte* const group = args.reduce.updates + item.updates;
  const std::byte* const updates = group + word * 16;
  const int group_bytes = item.words * 16;
  const auto far = static_cast<uint32_t>(args.far);
  const void* const tuple_numbers = args.reduce.sorted.tuples;
  const int64_t begin = item.list.begin;
  const bool wide = args.reduce.sorted.wide;
  const int run_stride = args.run_stride;
  const int64_t stride = args.reduce.tuples.loops[0].output;
  std::byte* const to =
      memory + word * (16 / kBytes) * run_stride + (mine - lane + first_update) * kBytes;
  // Beyond the list: its last update once more, which no one reads.
  const auto load_number = [&](uint32_t stage) {
    const int64_t k = min(int64_t{stage} * kStageUpdates + mine, count - 1);
    return number_at(wide, tuple_numbers, begin + k);
  };
  const auto load_rows = [&](int64_t number, uint4(&rows)[4]) {
    const int64_t offset = stride * number;  // here, where the number has come
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      rows[i] = load_once<uint4>(updates + __shfl_sync(~0U, offset, first_update + i));
    }
  };
  constexpr int kAhead = 2;  // stages
  int64_t numbers[kAhead];
  uint4 rows[kAhead][4];
#pragma unroll
  for (uint32_t i = 0; i < kAhead; ++i) {
    numbers[i] = load_number(i);
  }
#pragma unroll
  for (uint32_t i = 0; i < kAhead; ++i) {
    load_rows(numbers[i], rows[i]);
    numbers[i] = load_number(i + kAhead);
  }
  int64_t far_numbers[kAhead];
#pragma unroll
  for (uint32_t i = 0; i < kAhead; ++i) {
    far_numbers[i] = load_number(i + far);
  }
  for (uint32_t s = 0; s < stages; s += kAhead) {
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (s + i < stages) {
        const uint32_t stage = first_stage + s + i;
        ring.wait_empty(stage);
        if (live) {
          store_turned<kBytes>(to + ring.slot(stage) * kLongSlotBytes, rows[i], run_stride);
        }
        ring.full[ring.slot(stage)].arrive();
        load_rows(numbers[i], rows[i]);
        numbers[i] = load_number(s + i + 2 * kAhead);
        if (s + i + far < stages) {
          prefetch(group + stride * far_numbers[i], group_bytes);
        }
        far_numbers[i] = load_number(s + i + far + kAhead);
      }
    }
  }
}

// One copy of this code serves all types and reductions. Every lane finds one update of a stage,
// and its number is loaded stages ahead; then the lanes of a warp copy all 32 together. What the
// loop needs is in registers: `args` and `item` are memory, read again after every barrier.
template <int kWord>
__device__ __noinline__ void produce(const LongArgs& args, const LongItem& item,
                                     Ring<kLongSlots>& ring, std::byte* memory,
                                     uint32_t first_stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int mine = static_cast<int>(threadIdx.x) - 32;  // update of a stage
  const int lanes_of_update = min(item.words, 32);
  const int at_once = 32 / lanes_of_update;  // updates that a warp copies at a time
  const int part = lane / lanes_of_update;
  const LaneWords<kWord> words(args, lane - part * lanes_of_update,
                               part < at_once ? item.words : 0);
  const int update_stride = args.update_stride;
  const uint32_t stages = item.stages;
  const int64_t count = item.count;
  const std::byte* const updates = args.reduce.updates + item.updates;
  const void* const tuple_numbers = args.reduce.sorted.tuples;
  const int64_t begin = item.list.begin;
  const bool wide = args.reduce.sorted.wide;
  const UpdateOffset offset_of(args.reduce.tuples);
  const auto load_tuple = [&](uint32_t stage) {
    const int64_t k = int64_t{stage} * kStageUpdates + mine;
    return k < count ? number_at(wide, tuple_numbers, begin + k) : -1;
  };
  const auto copy_stage = [&](uint32_t stage, int64_t tuple) {
    const int64_t offset = tuple < 0 ? -1 : offset_of(tuple);
    ring.wait_empty(stage);
    std::byte* const to =
        memory + ring.slot(stage) * kLongSlotBytes + (mine - lane) * update_stride;
#pragma unroll 4
    for (int first = 0; first < 32; first += at_once) {
      const int update = first + part;
      const int64_t from = __shfl_sync(~0U, offset, update);
      if (update < 32 && from >= 0) {
        words.copy(to + update * update_stride, updates + from);
      }
    }
    if constexpr (kWord >= 4) {
      ring.full[ring.slot(stage)].arrive_after_copies();
    } else {
      ring.full[ring.slot(stage)].arrive();
    }
  };
  // Registers take turns: moving a number from one to another would wait for it.
  constexpr int kAhead = 3;
  int64_t tuples[kAhead];
#pragma unroll
  for (uint32_t i = 0; i < kAhead; ++i) {
    tuples[i] = load_tuple(i);
  }
  for (uint32_t s = 0; s < stages; s += kAhead) {
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (s + i < stages) {
        copy_stage(first_stage + s + i, tuples[i]);
        tuples[i] = load_tuple(s + i + kAhead);
      }
    }
  }
}

__device__ inline void produce(const LongArgs& args, const LongItem& item, Ring<kLongSlots>& ring,
                               std::byte* memory, uint32_t first_stage) {
  switch (args.word_bytes) {
    case 16: return produce<16>(args, item, ring, memory, first_stage);
    case 8: return produce<8>(args, item, ring, memory, first_stage);
    case 4: return produce<4>(args, item, ring, memory, first_stage);
    case 2: return produce<2>(args, item, ring, memory, first_stage);
    default: return produce<1>(args, item, ring, memory, first_stage);
  }
}

}  // namespace sheaf::cuda
