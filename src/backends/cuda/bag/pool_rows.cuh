// SPDX-License-Identifier: MIT
//
// Short bags of rows of 8 words or more, without shared memory. A group of threads has a chunk of
// the rows of one bag, or of a few bags side by side; eight rows are in flight. Thread i of a group
// looks up the entry of row i % 8, and the others ask it for the place of that row.
//
// The groups of a warp go together, as long as the longest of them has something to do: apart, each
// would take as many instructions as all of them.
#pragma once

#include "backends/cuda/bag/pool.cuh"

namespace sheaf::cuda {

inline constexpr int kRowsInFlight = 8;
inline constexpr int kLeastLogLanes = 3;       // a thread for each of them
inline constexpr int kLongestSideBySide = 16;  // entries; longer bags come one after the other
inline constexpr unsigned kAllLanes = ~0U;

// Bags that a group has side by side: as many as there are registers for their sums.
template <class Reader>
inline constexpr int kSideBySide = 4;

template <class Reader, Reduction kReduction, bool kDivides>
class RowGroup {
 public:
  static constexpr int kElements = Reader::kElements;
  using Sum = Accumulator<kReduction, float>;

  // Threads behind the end of a row read its begin, and write nothing.
  __device__ RowGroup(const BagArgs& args, int lane, int first_lane, int64_t element)
      : args_(args),
        reader_(args, element < args.nest.elements ? element : 0),
        element_(element),
        first_lane_(first_lane),
        lanes_(1 << args.log_lanes),
        row_(lane % kRowsInFlight) {}

  // `here`: false in groups behind the last.
  __device__ void pool_one(int64_t bag, bool here) {
    int64_t begin = 0, count = 0;
    if (here) {
      begin = bag_begin(args_, bag);
      count = max(bag_begin(args_, bag + 1) - begin, int64_t{0});
    }
    const bool is_short = count <= args_.long_limit;
    pool_bag<kRowsInFlight>(bag, begin, is_short ? static_cast<int>(count) : 0, here && is_short);
  }

  // Bags from `first` on.
  template <int kBags>
  __device__ void pool_side_by_side(int64_t first, bool is_group) {
    const auto bags = is_group ? static_cast<int>(min(int64_t{kBags}, args_.nest.bags - first)) : 0;
    int64_t begin = 0, count = 0;
    if (row_ < bags) {
      begin = bag_begin(args_, first + row_);
      count = max(bag_begin(args_, first + row_ + 1) - begin, int64_t{0});
    }
    const int mine = count <= kLongestSideBySide ? static_cast<int>(count) : 0;
    auto values = start<kBags * kElements>();
    int joined = 0;
    const int rounds = __reduce_max_sync(kAllLanes, mine);
    fetch(begin, 0, mine);
    for (int round = 0; round < rounds; ++round) {
      const Found found = look_up(round < mine);
      fetch(begin, round + 1, mine);
      joined += found.place != kLeftOut ? 1 : 0;
      typename Reader::Raw rows[kBags];
      load_rows(found, rows);
#pragma unroll
      for (int i = 0; i < kBags; ++i) {
        join(found, i, rows[i], values.values + i * kElements);
      }
    }
    if (!may_write()) {
      return;
    }
    const bool here = count <= kLongestSideBySide;
#pragma unroll
    for (int i = 0; i < kBags; ++i) {
      const int rows = __shfl_sync(kAllLanes, joined, i, lanes_);
      if (__shfl_sync(kAllLanes, here ? 1 : 0, i, lanes_) != 0 && i < bags) {
        write(first + i, values.values + i * kElements, rows);
      }
    }
    if (__any_sync(kAllLanes, !here)) {
#pragma unroll 1
      for (int i = 0; i < kBags; ++i) {
        const int64_t length = __shfl_sync(kAllLanes, count, i, lanes_);
        const int64_t from = __shfl_sync(kAllLanes, begin, i, lanes_);
        const bool left = i < bags && length > kLongestSideBySide && length <= args_.long_limit;
        pool_bag<kRowsInFlight / 2>(first + i, from, left ? static_cast<int>(length) : 0, left);
      }
    }
  }

 private:
  // What became of the entries of the rows in flight: the thread's own, and a bit for each of all.
  struct Found {
    int64_t place;
    float weight;
    unsigned joins, filled;
  };

  template <int kCount>
  __device__ Pooled<kReduction, float, kCount> start() const {
    return Pooled<kReduction, float, kCount>::start(*reinterpret_cast<const float*>(args_.neutral));
  }

  // Asks for entry `at` of the `count` from `begin` on.
  __device__ void fetch(int64_t begin, int at, int count) {
    if (at < count) {
      raw_ = raw_entry(args_, begin + at);
      if (args_.nest.weighted) {
        weight_ = weight_at<float>(args_, begin + at);
      }
    }
  }

  // The entry that was asked for, if there was one.
  __device__ Found look_up(bool here) const {
    Found found{here ? place_of(args_, raw_) : kLeftOut, weight_, 0, 0};
    found.joins = bits(found.place != kLeftOut);
    if (args_.rule.out_of_range == OutOfRange::kFill) {
      found.filled = bits(found.place == kFilled);
    }
    return found;
  }
  __device__ unsigned bits(bool mine) const {
    return __ballot_sync(kAllLanes, mine) >> first_lane_ & ((1U << kRowsInFlight) - 1);
  }

  template <int kCount>
  __device__ void load_rows(const Found& found, typename Reader::Raw (&rows)[kCount]) const {
    const unsigned with_row = found.joins & ~found.filled;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int64_t place = __shfl_sync(kAllLanes, found.place, i, lanes_);
      if ((with_row >> i & 1) != 0) {
        rows[i] = reader_.load(place);
      }
    }
  }

  // Joins row i to the thread's elements of a bag, unless it is left out.
  __device__ void join(const Found& found, int i, const typename Reader::Raw& raw,
                       Sum* sums) const {
    const float weight =
        args_.nest.weighted ? __shfl_sync(kAllLanes, found.weight, i, lanes_) : 1.0F;
    if ((found.joins >> i & 1) == 0) {
      return;
    }
    float row[kElements];
    Reader::decode(raw, row);
    if (found.filled != 0 && (found.filled >> i & 1) != 0) {
#pragma unroll
      for (float& element : row) {
        element = *reinterpret_cast<const float*>(args_.nest.fill);
      }
    }
    if (args_.nest.weighted) {
#pragma unroll
      for (float& element : row) {
        element = element * weight;
      }
    }
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      sums[k].add(row[k]);
    }
  }

  // With kRows rows in flight. Groups without a bag have a count of 0, and write nothing.
  template <int kRows>
  __device__ void pool_bag(int64_t bag, int64_t begin, int count, bool writes) {
    if (!__any_sync(kAllLanes, writes)) {
      return;
    }
    auto value = start<kElements>();
    int joined = 0;
    const int mine = row_ % kRows;
    fetch(begin, mine, count);
    const int longest = __reduce_max_sync(kAllLanes, count);
    for (int at = 0; at < longest; at += kRows) {
      const Found found = look_up(at + mine < count);
      fetch(begin, at + kRows + mine, count);
      joined += __popc(found.joins & ((1U << kRows) - 1));
      typename Reader::Raw rows[kRows];
      load_rows(found, rows);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        join(found, i, rows[i], value.values);
      }
    }
    if (may_write() && writes) {
      write(bag, value.values, joined);
    }
  }

  // Whether nothing is wrong with the segments. By whole warps, before they write.
  __device__ bool may_write() const {
    if (args_.unchecked == nullptr) {
      return true;
    }
    wait_for_launch_before();
    return !bag_refused(args_);
  }

  __device__ void write(int64_t bag, const Sum* sums, int joined) const {
    if (element_ >= args_.nest.elements) {
      return;
    }
    if (joined == 0) {
      return write_empty(args_, bag, element_, kElements);
    }
    switch (args_.nest.output_type.kind()) {
      case Kind::kFloat16:
        return write_as(bag, sums, joined, [](float x) { return narrow_f16(x); });
      case Kind::kBFloat16:
        return write_as(bag, sums, joined, [](float x) { return narrow_bf16(x); });
      default: return write_as(bag, sums, joined, [](float x) { return x; });
    }
  }

  template <class Narrow>
  __device__ void write_as(int64_t bag, const Sum* sums, int joined, Narrow narrow) const {
    using Out = decltype(narrow(0.0F));
    OutputElements<Out, kElements> elements;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const float sum = sums[i].result();
      elements.values[i] = narrow(kDivides ? pooled_value(args_.nest.pool, sum, joined) : sum);
    }
    store_elements(args_.output + bag * args_.nest.bag_stride + element_ * int64_t{sizeof(Out)},
                   elements);
  }

  const BagArgs& args_;
  Reader reader_;
  int64_t element_;
  int first_lane_, lanes_, row_;
  int64_t raw_ = 0;
  float weight_ = 0;
};

// Blocks of a multiprocessor: as many as have registers for the sums and rows of their threads.
constexpr int pool_rows_blocks(int sums) {
  return sums <= 4 ? 4 : sums <= 8 ? 3 : sums <= 16 ? 4 : 2;
}

template <class Reader, Reduction kReduction, bool kDivides, int kBags>
__global__ void __launch_bounds__(kPoolThreads, pool_rows_blocks(kBags* Reader::kElements))
    pool_rows_kernel(const __grid_constant__ BagArgs args) {
  using Group = RowGroup<Reader, kReduction, kDivides>;
  const bool unchecked = args.unchecked != nullptr;
  if (!args.beside && !unchecked) {
    wait_for_launch_before();
  }
  let_next_launch_begin();
  const int lanes = 1 << args.log_lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int64_t item =
      (int64_t{blockIdx.x} * kPoolThreads + static_cast<int>(threadIdx.x)) >> args.log_lanes;
  const auto range = static_cast<int64_t>(args.chunks.quotient(static_cast<uint64_t>(item)));
  const int64_t chunk = item - range * static_cast<int64_t>(args.chunks.divisor);
  if (unchecked ? !refused(args.check) : !bag_refused(args)) {
    const int first_lane = static_cast<int>(threadIdx.x) % 32 - lane;
    Group group(args, lane, first_lane, ((chunk << args.log_lanes) + lane) * Group::kElements);
    if constexpr (kBags == 1) {
      group.pool_one(range, range < args.ranges);
    } else {
      group.template pool_side_by_side<kBags>(range * kBags, range < args.ranges);
    }
  }
  if ((args.beside || unchecked) && blockIdx.x == gridDim.x - 1) {
    wait_for_launch_before();
  }
}

}  // namespace sheaf::cuda
