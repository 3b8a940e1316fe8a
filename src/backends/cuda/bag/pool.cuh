// SPDX-License-Identifier: MIT
//
// Short bags of any rows (pool_rows.cuh has the common ones). A group of threads has a chunk of the
// rows of a few bags that follow one another. Its entries follow one another too, whatever the
// lengths of the bags are, so their rows are kept in flight across the ends of bags.
#pragma once

#include <limits>
#include <utility>

#include "backends/cuda/bag/read_rows.cuh"

namespace sheaf::cuda {

inline constexpr int kPoolThreads = 256;
inline constexpr int kMostBagsEach = 8;
inline constexpr int kEntriesPerThread = 4;  // that a group looks up at a time

template <class Computed>
struct StagedEntry {
  int64_t place;
  WeightOf<Computed> weight;
};

// A thread's elements of a bag.
template <Reduction kReduction, class T, int kCount>
struct Pooled {
  Accumulator<kReduction, T> values[kCount];

  __device__ static Pooled start(T neutral) {
    return start(neutral, std::make_integer_sequence<int, kCount>{});
  }

 private:
  template <int... kAt>
  __device__ static Pooled start(T neutral, std::integer_sequence<int, kAt...>) {
    return {{((void)kAt, Accumulator<kReduction, T>(neutral))...}};
  }
};

template <class Out, int kCount>
struct alignas(sizeof(Out) * kCount > 16 ? 16 : sizeof(Out) * kCount) OutputElements {
  Out values[kCount];
};

// Writes a thread's elements of a bag by wide words, around the cache.
template <class Out, int kCount>
__device__ void store_elements(std::byte* to, const OutputElements<Out, kCount>& elements) {
  constexpr int kBytes = sizeof(elements);
  constexpr int kWord = kBytes > 16 ? 16 : kBytes;
  const auto* const words = reinterpret_cast<const Word<kWord>*>(&elements);
#pragma unroll
  for (int i = 0; i < kBytes / kWord; ++i) {
    store_streaming(to + i * kWord, words[i]);
  }
}

template <class Reader, Reduction kReduction, bool kDivides>
class PoolGroup {
 public:
  using Computed = typename Reader::Computed;
  using Staged = StagedEntry<Computed>;
  static constexpr int kElements = Reader::kElements;
  // Of an entry among those of a few bags, none of which is long where there are kernels for long
  // ones.
  using Position = std::conditional_t<kElements == 1, int64_t, int>;

  __device__ PoolGroup(const BagArgs& args, int lane, unsigned mask, int64_t element,
                       Staged* staged, int64_t* ends)
      : args_(args),
        reader_(args, element),
        staged_(staged),
        ends_(ends),
        element_(element),
        mask_(mask),
        lane_(lane),
        lanes_(1 << args.log_lanes),
        live_(element < args.nest.elements) {}

  // Bags from `first` on, as many as a group has.
  __device__ void pool(int64_t first) {
    const auto bags = static_cast<int>(min(int64_t{args_.bags_each}, args_.nest.bags - first));
    for (int i = lane_; i <= bags; i += lanes_) {
      ends_[i] = bag_begin(args_, first + i);
    }
    __syncwarp(mask_);
    int64_t from = ends_[0];
    for (int bag = 0; bag < bags;) {
      int64_t to = from;
      int behind = bag;  // the first that is long, or behind the last
      for (; behind < bags && ends_[behind + 1] - to <= args_.long_limit; ++behind) {
        to = max(ends_[behind + 1], to);
      }
      if (behind > bag) {
        pool_run(first, bag, behind, from, static_cast<Position>(to - from));
      }
      bag = behind + 1;
      from = behind < bags ? max(ends_[behind + 1], to) : to;
    }
  }

 private:
  // Bags [bag, behind), none of them long, whose entries are [from, from + length). Positions are
  // counted from `from`.
  __device__ void pool_run(int64_t first, int bag, int behind, int64_t from, Position length) {
    Position end = start_bag(first, bag, behind, from, 0);
    const int window = kEntriesPerThread << args_.log_lanes;
    load_ahead(from, 0, length);
    for (Position at = 0; at < length; at += window) {
      const auto count = static_cast<int>(min(Position{window}, length - at));
      stage(count);
      __syncwarp(mask_);
      load_ahead(from, at + window, length);
      for (int entry = 0; entry < count; entry += Reader::kRowsAhead) {
        typename Reader::Raw rows[Reader::kRowsAhead];
        load_rows(rows, entry, count);
        const int loaded = min(count - entry, Reader::kRowsAhead);
        for (int row = 0; row < loaded;) {  // by bags
          const Position left = end - (at + entry);
          const int stop = left < loaded ? static_cast<int>(left) : loaded;
          join_rows(rows, entry, row, stop);
          if (stop == left) {
            write(first + bag);
            end = start_bag(first, ++bag, behind, from, end);
          }
          row = stop;
        }
      }
      __syncwarp(mask_);
    }
  }

  // Makes ready for bag `bag`, or the first after it that has entries; empty ones are written.
  // Returns where its entries end.
  __device__ Position start_bag(int64_t first, int& bag, int behind, int64_t from, Position at) {
    value_ = Sums::start(*reinterpret_cast<const Computed*>(args_.neutral));
    count_ = 0;
    for (; bag < behind; ++bag) {
      const auto end = static_cast<Position>(ends_[bag + 1] - from);
      if (end > at) {
        return end;
      }
      if (live_) {
        write_empty(args_, first + bag, element_, kElements);
      }
    }
    return std::numeric_limits<Position>::max();
  }

  __device__ void load_ahead(int64_t from, Position at, Position length) {
#pragma unroll
    for (int i = 0; i < kEntriesPerThread; ++i) {
      const Position mine = at + (i << args_.log_lanes) + lane_;
      if (mine < length) {
        const int64_t p = from + mine;
        ahead_[i] = raw_entry(args_, p);
        if (args_.nest.weighted) {
          weights_ahead_[i] = weight_at<Computed>(args_, p);
        }
      }
    }
  }

  // Indices go to shared memory before they are resolved: a loop that is not unrolled takes few
  // registers, and each thread comes back to what it wrote itself.
  __device__ void stage(int count) {
#pragma unroll
    for (int i = 0; i < kEntriesPerThread; ++i) {
      const int slot = (i << args_.log_lanes) + lane_;
      if (slot < count) {
        staged_[slot] = {ahead_[i], weights_ahead_[i]};
      }
    }
#pragma unroll 1
    for (int slot = lane_; slot < count; slot += lanes_) {
      staged_[slot].place = place_of(args_, staged_[slot].place);
    }
  }

  __device__ void load_rows(typename Reader::Raw (&rows)[Reader::kRowsAhead], int entry,
                            int count) const {
#pragma unroll
    for (int i = 0; i < Reader::kRowsAhead; ++i) {
      const int64_t place = entry + i < count ? staged_[entry + i].place : kLeftOut;
      if (has_row(place) && live_) {
        rows[i] = reader_.load(place);
      }
    }
  }

  // Rows [row, stop) of those that are loaded.
  __device__ void join_rows(typename Reader::Raw (&rows)[Reader::kRowsAhead], int entry, int row,
                            int stop) {
#pragma unroll
    for (int i = 0; i < Reader::kRowsAhead; ++i) {
      if (i >= row && i < stop) {
        Reader::pin(rows[i]);
        join(staged_[entry + i], rows[i]);
      }
    }
  }

  __device__ void join(const Staged& entry, const typename Reader::Raw& raw) {
    if (entry.place == kLeftOut) {
      return;
    }
    Computed row[kElements];
    Reader::decode(raw, row);
    if (entry.place == kFilled) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        row[i] = *reinterpret_cast<const Computed*>(args_.nest.fill);
      }
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      value_.values[i].add(args_.nest.weighted ? weighted<Computed>(row[i], entry.weight) : row[i]);
    }
    ++count_;
  }

  __device__ void write(int64_t bag) const {
    if (!live_) {
      return;
    }
    if (count_ == 0) {
      return write_empty(args_, bag, element_, kElements);
    }
    if constexpr (kElements == 1) {
      write_element<kDivides>(args_, bag, element_, value_.values[0].result(), count_);
    } else {
      switch (args_.nest.output_type.kind()) {
        case Kind::kFloat16: return write_as(bag, [](float x) { return narrow_f16(x); });
        case Kind::kBFloat16: return write_as(bag, [](float x) { return narrow_bf16(x); });
        default: return write_as(bag, [](float x) { return x; });
      }
    }
  }

  template <class Narrow>
  __device__ void write_as(int64_t bag, Narrow narrow) const {
    using Out = decltype(narrow(0.0F));
    OutputElements<Out, kElements> elements;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const Computed joined = value_.values[i].result();
      elements.values[i] =
          narrow(kDivides ? pooled_value(args_.nest.pool, joined, count_) : joined);
    }
    store_elements(args_.output + bag * args_.nest.bag_stride + element_ * int64_t{sizeof(Out)},
                   elements);
  }

  using Sums = Pooled<kReduction, Computed, kElements>;

  const BagArgs& args_;
  Reader reader_;
  Staged* staged_;
  int64_t* ends_;
  int64_t element_;
  unsigned mask_;
  int lane_, lanes_;
  bool live_;
  Sums value_ = Sums::start(Computed{});
  Position count_ = 0;
  int64_t ahead_[kEntriesPerThread] = {};
  WeightOf<Computed> weights_ahead_[kEntriesPerThread] = {};
};

// Blocks of a multiprocessor: with 6 rows ahead there are registers for three. One element per
// thread, of any type, needs more.
template <class Reader>
inline constexpr int kPoolBlocks = Reader::kElements > 1 ? 3 : 2;

template <class Reader, Reduction kReduction, bool kDivides>
__global__ void __launch_bounds__(kPoolThreads, kPoolBlocks<Reader>)
    pool_kernel(const __grid_constant__ BagArgs args) {
  using Group = PoolGroup<Reader, kReduction, kDivides>;
  extern __shared__ uint4 shared[];
  if (!args.beside) {
    wait_for_launch_before();
  }
  let_next_launch_begin();
  const int group = static_cast<int>(threadIdx.x) >> args.log_lanes;
  const int lanes = 1 << args.log_lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int64_t item = (int64_t{blockIdx.x} * kPoolThreads >> args.log_lanes) + group;
  const auto range = static_cast<int64_t>(args.chunks.quotient(static_cast<uint64_t>(item)));
  const int64_t chunk = item - range * static_cast<int64_t>(args.chunks.divisor);
  if (!bag_refused(args) && range < args.ranges) {
    const int first_lane = static_cast<int>(threadIdx.x) % 32 - lane;
    const unsigned mask = (lanes == 32 ? ~0U : (1U << lanes) - 1) << first_lane;
    auto* const staged = reinterpret_cast<typename Group::Staged*>(shared);
    auto* const ends = reinterpret_cast<int64_t*>(staged + kPoolThreads * kEntriesPerThread);
    Group(args, lane, mask, ((chunk << args.log_lanes) + lane) * Group::kElements,
          staged + ((group * kEntriesPerThread) << args.log_lanes),
          ends + group * (kMostBagsEach + 1))
        .pool(range * args.bags_each);
  }
  if (args.beside && blockIdx.x == gridDim.x - 1) {
    wait_for_launch_before();
  }
}

template <class Reader>
constexpr int pool_shared_bytes(int log_lanes) {
  return kPoolThreads * kEntriesPerThread * int{sizeof(StagedEntry<typename Reader::Computed>)} +
         (kPoolThreads >> log_lanes) * (kMostBagsEach + 1) * int{sizeof(int64_t)};
}

}  // namespace sheaf::cuda
