// SPDX-License-Identifier: MIT
//
// Long bags, pooled in order. The order makes the limit one dependent operation per row, not one
// memory access: producer warps decode and weight rows into a ring in shared memory, and one
// consumer warp pools them from there, one element per lane. Groups of elements are independent and
// go to different blocks. The ring holds rows by element, so that a lane reads 16 bytes of its
// chain at a time (as reduce_long.cuh does, which explains why).
#pragma once

#include "backends/cuda/bag/read_rows.cuh"
#include "backends/cuda/kernel/pipeline.cuh"

namespace sheaf::cuda {

inline constexpr int kBagProducers = 512;
inline constexpr int kBagLongThreads = kBagProducers + 32;  // one warp consumes
inline constexpr int kBagSlots = 3;

// The geometry of a stage of the ring.
template <class Reader>
struct LongStage {
  using T = typename Reader::Computed;
  static constexpr int kRowLanes = Reader::kElements > 1 ? 4 : 16;  // that load a row
  static constexpr int kGroup = kRowLanes * Reader::kElements;      // elements of a block
  static constexpr int kRowsOfPass = kBagProducers / kRowLanes;
  static constexpr int kPasses = Reader::kElements > 1 ? 2 : 4;
  static constexpr int kRows = kRowsOfPass * kPasses;
  // The 16 bytes keep lanes from meeting in a bank.
  static constexpr int kColumnBytes = kRows * int{sizeof(T)} + 16;
  static constexpr int kSlotBytes = kGroup * kColumnBytes;
  static constexpr int kRingBytes = kBagSlots * kSlotBytes;
  static_assert(kGroup <= 32);
};

struct LongBag {
  int64_t number, begin, count;
  int64_t first_element;
  uint32_t stages;
};

struct LongShared {
  Ring<kBagSlots> ring;
  int64_t lists[kSegmentParts + 1];  // long bags of the parts before each
  LongBag bag;
  bool took;
  unsigned long long joined;  // entries that were not left out
};

// By the first warp: how many long bags the parts before each part have.
__device__ inline void count_long_bags(const BagArgs& args, LongShared& block) {
  static_assert(kSegmentParts == 64);
  const int lane = static_cast<int>(threadIdx.x);
  const int64_t* const counts = args.segments.state->long_count;
  const int64_t even = counts[2 * lane];
  int64_t sum = even + counts[2 * lane + 1];
  const int64_t mine = sum;
  for (int below = 1; below < 32; below *= 2) {
    const int64_t other = __shfl_up_sync(~0U, sum, static_cast<unsigned>(below));
    sum += lane >= below ? other : 0;
  }
  block.lists[2 * lane] = sum - mine;
  block.lists[2 * lane + 1] = sum - mine + even;
  if (lane == 31) {
    block.lists[kSegmentParts] = sum;
  }
}

__device__ inline int64_t long_bag_number(const BagArgs& args, const LongShared& block,
                                          int64_t at) {
  if (args.segments.offsets == nullptr) {
    return at;
  }
  int part = 0;
  while (block.lists[part + 1] <= at) {
    ++part;
  }
  return args.segments.long_bags[part * args.segments.part_bags + at - block.lists[part]];
}

// The next piece of a long bag that no block has. By one thread. Where every bag is long, blocks
// take turns.
template <class Stage>
__device__ bool take_bag(const BagArgs& args, LongShared& block, int64_t turn) {
  const int64_t groups = (args.nest.elements - 1) / Stage::kGroup + 1;
  const bool listed = args.segments.offsets != nullptr;
  const int64_t bags = listed ? block.lists[kSegmentParts] : args.nest.bags;
  const int64_t item = !listed ? blockIdx.x + turn * gridDim.x
                       : bags == 0
                           ? 0
                           : static_cast<int64_t>(atomicAdd(&args.segments.state->taken, 1ULL));
  if (item >= bags * groups) {
    return false;
  }
  LongBag& bag = block.bag;
  bag.number = long_bag_number(args, block, item / groups);
  bag.begin = bag_begin(args, bag.number);
  bag.count = max(bag_begin(args, bag.number + 1) - bag.begin, int64_t{0});
  bag.first_element = item % groups * Stage::kGroup;
  bag.stages = static_cast<uint32_t>((bag.count + Stage::kRows - 1) / Stage::kRows);
  block.joined = 0;
  return true;
}

template <class Reader>
class BagProducer {
 public:
  using Stage = LongStage<Reader>;
  using T = typename Reader::Computed;

  __device__ BagProducer(const BagArgs& args, LongShared& block, std::byte* memory, int thread)
      : args_(args),
        ring_(block.ring),
        memory_(memory),
        row_(thread / Stage::kRowLanes),
        column_(thread % Stage::kRowLanes * Reader::kElements),
        reader_(args, block.bag.first_element + column_),
        live_(block.bag.first_element + column_ < args.nest.elements),
        next_(block.bag.begin + row_),
        end_(block.bag.begin + block.bag.count) {}

  // Rows are loaded a stage ahead of their use, and their indices a stage ahead of them.
  __device__ int64_t run(uint32_t first, uint32_t stages) {
    Rows even, odd;
    load_entries();
    load_rows(even);
    for (uint32_t s = 0; s < stages; s += 2) {
      load_rows(odd);
      store(first + s, even);
      if (s + 1 < stages) {
        load_rows(even);
        store(first + s + 1, odd);
      }
    }
    return joined_;
  }

 private:
  struct Rows {
    typename Reader::Raw raw[Stage::kPasses];
    WeightOf<T> weight[Stage::kPasses];
    unsigned joined = 0, filled = 0;  // a bit for each pass
  };

  __device__ void load_entries() {
#pragma unroll
    for (int pass = 0; pass < Stage::kPasses; ++pass) {
      const int64_t p = next_ + pass * Stage::kRowsOfPass;
      if (p < end_) {
        entries_[pass] = raw_entry(args_, p);
        if (args_.nest.weighted) {
          weights_[pass] = weight_at<T>(args_, p);
        }
      }
    }
    next_ += Stage::kRows;
  }

  // Of the stage whose entries were loaded last; then the entries of the next.
  __device__ void load_rows(Rows& rows) {
    rows.joined = rows.filled = 0;
#pragma unroll
    for (int pass = 0; pass < Stage::kPasses; ++pass) {
      const int64_t p = next_ - Stage::kRows + pass * Stage::kRowsOfPass;
      const int64_t place = p < end_ ? place_of(args_, entries_[pass]) : kLeftOut;
      rows.joined |= place != kLeftOut ? 1U << pass : 0;
      rows.filled |= place == kFilled ? 1U << pass : 0;
      rows.weight[pass] = weights_[pass];
      if (has_row(place) && live_) {
        rows.raw[pass] = reader_.load(place);
      }
    }
    load_entries();
  }

  // An entry that is left out leaves the neutral element, which changes no bit of what it joins.
  __device__ void store(uint32_t stage, const Rows& rows) {
    ring_.wait_empty(stage);
    std::byte* const slot = memory_ + ring_.slot(stage) * Stage::kSlotBytes;
    constexpr unsigned kAll = (1U << Stage::kPasses) - 1;
    const bool as_it_is = rows.joined == kAll && rows.filled == 0 && !args_.nest.weighted;
#pragma unroll
    for (int pass = 0; pass < Stage::kPasses; ++pass) {
      T values[Reader::kElements];
      Reader::decode(rows.raw[pass], values);
      const bool joins = (rows.joined >> pass & 1) != 0;
      const bool is_filled = (rows.filled >> pass & 1) != 0;
#pragma unroll
      for (int i = 0; i < Reader::kElements; ++i) {
        const auto row = row_ + pass * Stage::kRowsOfPass;
        auto* const to = reinterpret_cast<T*>(slot + (column_ + i) * Stage::kColumnBytes) + row;
        if (as_it_is) {
          *to = values[i];
          continue;
        }
        T value = is_filled ? *reinterpret_cast<const T*>(args_.nest.fill) : values[i];
        value = args_.nest.weighted ? weighted<T>(value, rows.weight[pass]) : value;
        *to = joins ? value : *reinterpret_cast<const T*>(args_.neutral);
      }
    }
    ring_.full[ring_.slot(stage)].arrive();
    joined_ += __popc(rows.joined);
  }

  const BagArgs& args_;
  Ring<kBagSlots>& ring_;
  std::byte* memory_;
  int row_, column_;
  Reader reader_;
  bool live_;
  int64_t next_, end_;
  int64_t joined_ = 0;
  int64_t entries_[Stage::kPasses] = {};
  WeightOf<T> weights_[Stage::kPasses] = {};
};

template <class T, int kCount>
struct alignas(16) ChainPart {
  T values[kCount];
};

// One element of `count` rows. Two batches take turns in registers: one is loaded while the other
// is added.
template <Reduction kReduction, class T>
__device__ void pool_chain(const std::byte* column, int count, Accumulator<kReduction, T>& value) {
  constexpr int kEach = 16 / int{sizeof(T)};
  constexpr int kBatch = 4;
  using Batch = ChainPart<T, kEach>[kBatch];
  const auto load = [&](int round, Batch& batch) {
    const auto* const from = reinterpret_cast<const ChainPart<T, kEach>*>(column) + round * kBatch;
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      batch[i] = from[i];
    }
  };
  const auto add = [&](const Batch& batch) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        value.add(batch[i].values[k]);
      }
    }
  };
  const int rounds = count / (kBatch * kEach) / 2 * 2;
  Batch even, odd;
  if (rounds > 0) {
    load(0, even);
  }
  for (int round = 0; round < rounds; round += 2) {
    load(round + 1, odd);
    add(even);
    load(round + 2 < rounds ? round + 2 : 0, even);
    add(odd);
  }
  const auto* const rest = reinterpret_cast<const T*>(column);
  for (int i = rounds * kBatch * kEach; i < count; ++i) {
    value.add(rest[i]);
  }
}

template <class Reader, Reduction kReduction>
__device__ Accumulator<kReduction, typename Reader::Computed> consume_bag(
    const BagArgs& args, LongShared& block, const std::byte* memory, int lane, uint32_t first) {
  using Stage = LongStage<Reader>;
  using T = typename Reader::Computed;
  Accumulator<kReduction, T> value(*reinterpret_cast<const T*>(args.neutral));
  const int column = lane < Stage::kGroup ? lane : 0;
  int64_t left = block.bag.count;
  for (uint32_t stage = first; left > 0; ++stage, left -= Stage::kRows) {
    block.ring.wait_full(stage);
    pool_chain<kReduction, T>(
        memory + block.ring.slot(stage) * Stage::kSlotBytes + column * Stage::kColumnBytes,
        static_cast<int>(min(left, int64_t{Stage::kRows})), value);
    block.ring.empty[block.ring.slot(stage)].arrive();
  }
  return value;
}

template <class Reader, Reduction kReduction>
__global__ void __launch_bounds__(kBagLongThreads, 1)
    pool_long_kernel(const __grid_constant__ BagArgs args) {
  using Stage = LongStage<Reader>;
  using T = typename Reader::Computed;
  extern __shared__ uint4 shared[];
  __shared__ LongShared block;
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  wait_for_launch_before();
  let_next_launch_begin();
  if (bag_refused(args)) {
    return;
  }
  if (thread < 32 && args.segments.offsets != nullptr) {
    count_long_bags(args, block);
  }
  if (thread == 0) {
    block.ring.init(kBagProducers, 32);
  }
  uint32_t stage = 0;
  for (int64_t turn = 0; true; ++turn) {
    __syncthreads();
    if (thread == 0) {
      block.took = take_bag<Stage>(args, block, turn);
    }
    __syncthreads();
    if (!block.took) {
      return;
    }
    Accumulator<kReduction, T> value(T{});
    if (thread < 32) {
      value = consume_bag<Reader, kReduction>(args, block, memory, thread, stage);
    } else {
      const int64_t joined =
          BagProducer<Reader>(args, block, memory, thread - 32).run(stage, block.bag.stages);
      if ((thread - 32) % Stage::kRowLanes == 0) {
        atomicAdd(&block.joined, static_cast<unsigned long long>(joined));
      }
    }
    __syncthreads();
    const int64_t element = block.bag.first_element + thread;
    if (thread < Stage::kGroup && element < args.nest.elements) {
      write_element<kReduction == Reduction::kAdd>(args, block.bag.number, element, value.result(),
                                                   static_cast<int64_t>(block.joined));
    }
    stage += block.bag.stages;
  }
}

}  // namespace sheaf::cuda
