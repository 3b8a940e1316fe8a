// SPDX-License-Identifier: MIT
//
// The launches of a bag, for one reduction and all readers.
#pragma once

#include <algorithm>
#include <bit>

#include "backends/cuda/bag/pool.cuh"
#include "backends/cuda/bag/pool_long.cuh"
#include "backends/cuda/bag/pool_rows.cuh"

namespace sheaf::cuda {

// A bag on device pointers, before it is known by which reader.
struct BagCall {
  const BagNest& nest;
  const BagBuffers& buffers;
  const Launch& launch;
};

// Bags of more entries are long: those that would keep a group of threads busy for longer than a
// good part of the whole run.
inline int64_t long_limit_of(const BagNest& nest) {
  constexpr double kLeast = 256, kMost = 1 << 26;  // a few of them are counted in 32 bits
  constexpr double kBytesPerMicrosecond = 4e6;
  constexpr double kEntriesPerMicrosecond = 2;  // of a bag, in a quarter of the time
  const double bytes =
      static_cast<double>(nest.entries) * static_cast<double>(nest.elements) *
      static_cast<double>(nest.rows.encoding == Encoding::kPlain ? nest.rows.type.bytes() : 1);
  return static_cast<int64_t>(
      std::clamp(bytes / kBytesPerMicrosecond * kEntriesPerMicrosecond, kLeast, kMost));
}

inline BagArgs bag_args(const BagCall& call) {
  const BagNest& nest = call.nest;
  BagArgs args{};
  args.nest = nest;
  args.data = call.buffers.data;
  args.indices = call.buffers.indices;
  args.weights = call.buffers.weights;
  args.output = call.buffers.output;
  if (nest.per_bag < 0) {
    args.segments = bag_segments(nest, call.launch.workspace);
    args.faults = call.buffers.faults->not_first;
  }
  args.check = call.launch.check_while_moving ? nullptr : call.launch.verdict;
  args.report = call.launch.verdict;
  args.rule = {nest.index_type.kind(), nest.negative, nest.out_of_range};
  args.index_walk = EntryWalk(nest.indices, nest.entries);
  args.weight_walk = EntryWalk(nest.weights, nest.entries);
  args.entry_step = 1;
  if (reduction_of(nest.pool) != Reduction::kAdd) {
    neutral_element(nest.computed, reduction_of(nest.pool), args.neutral);
  }
  args.long_limit = INT64_MAX;
  return args;
}

// Threads for `words` words of a row: as many as leave few of them idle.
inline int log_lanes_for(int64_t words) {
  constexpr int kMost = 5, kLeast = 3;
  if (words <= 32) {
    return std::bit_width(static_cast<uint64_t>(words - 1));
  }
  for (int log = kMost; log > kLeast; --log) {
    const int64_t lanes = int64_t{1} << log;
    if ((words + lanes - 1) / lanes * lanes * 8 <= words * 9) {
      return log;
    }
  }
  return kMost;
}

// Bags that have no more entries on average are taken side by side.
inline constexpr int64_t kShortAverage = 6;

template <class Reader>
int64_t row_words(const BagNest& nest) {
  return (nest.elements - 1) / Reader::kElements + 1;
}

// Whether short bags go to pool_rows.cuh. Wide rows do not: there every chunk of a row looks the
// entries up again, which pool.cuh does for several bags at a time. Weighted bags of 8 rows of 14
// KiB take 0.59 ms by pool.cuh and 0.67 ms by pool_rows.cuh on an H200, bags of 6 rows of 4 KiB
// 0.51 and 0.77 ms.
template <class Reader>
bool takes_rows(const BagArgs& args) {
  constexpr int64_t kWideWords = 128;  // 2 KiB of floats
  return Reader::kElements > 1 && args.log_lanes >= kLeastLogLanes &&
         row_words<Reader>(args.nest) < kWideWords;
}

template <class Reader>
void divide_bags(BagArgs& args) {
  constexpr int64_t kEntriesOfGroup = 32;
  constexpr int64_t kBlocksEach = 8;  // of a multiprocessor
  const BagNest& nest = args.nest;
  const int64_t words = row_words<Reader>(nest);
  args.log_lanes = log_lanes_for(words);
  const int64_t chunks = ((words - 1) >> args.log_lanes) + 1;
  args.chunks = WideDivisor(static_cast<uint64_t>(chunks));
  const int64_t average = std::max<int64_t>(nest.entries / nest.bags, 1);
  int64_t each = std::clamp<int64_t>(kEntriesOfGroup / average, 1, kMostBagsEach);
  if (takes_rows<Reader>(args)) {
    each = average <= kShortAverage ? kSideBySide<Reader> : 1;
    args.bags_each = static_cast<int>(each);
    args.ranges = (nest.bags - 1) / each + 1;
    return;
  }
  const int64_t enough = kBlocksEach * current_device().multiprocessors * kPoolThreads;
  while (each > 1 && (((nest.bags / each) * chunks) << args.log_lanes) < enough) {
    each /= 2;
  }
  args.bags_each = static_cast<int>(each);
  args.ranges = (nest.bags - 1) / each + 1;
}

template <class Kernel>
void launch_bag(Kernel kernel, const BagArgs& args, int64_t blocks, int threads, int shared_bytes,
                bool early, Stream stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && waits_for_launch_before(kernel) ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, args);
}

template <class Reader, Reduction kReduction, bool kDivides>
void launch_short(const BagArgs& args, bool early, Stream stream) {
  const int64_t blocks = ((args.ranges * static_cast<int64_t>(args.chunks.divisor) - 1) >>
                          (std::bit_width(unsigned{kPoolThreads}) - 1 - args.log_lanes)) +
                         1;
  if constexpr (Reader::kElements > 1) {
    if (takes_rows<Reader>(args)) {
      constexpr int kBags = kSideBySide<Reader>;
      launch_bag(args.bags_each > 1 ? pool_rows_kernel<Reader, kReduction, kDivides, kBags>
                                    : pool_rows_kernel<Reader, kReduction, kDivides, 1>,
                 args, blocks, kPoolThreads, 0, early, stream);
      return;
    }
  }
  launch_bag(pool_kernel<Reader, kReduction, kDivides>, args, blocks, kPoolThreads,
             pool_shared_bytes<Reader>(args.log_lanes), early, stream);
}

// Whether the launch of short bags may begin before offsets are checked. It stands right behind the
// check then, on a device that lets it begin early.
template <class Reader, Reduction kReduction, bool kDivides>
bool reads_unchecked(const BagArgs& args) {
  if constexpr (Reader::kElements > 1) {
    return args.nest.per_bag < 0 && args.nest.form == SegmentForm::kOffsets && !args.beside &&
           takes_rows<Reader>(args) &&
           waits_for_launch_before(pool_rows_kernel<Reader, kReduction, kDivides, 1>);
  }
  return false;
}

template <class Reader, Reduction kReduction>
void launch_long(const BagArgs& args, bool early, Stream stream) {
  constexpr int kBytes = LongStage<Reader>::kRingBytes;
  const auto kernel = pool_long_kernel<Reader, kReduction>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  const Device& device = current_device();
  launch_bag(kernel, args, device.multiprocessors, kBagLongThreads, kBytes, early, stream);
}

// Long bags first, and the short ones beside them; or behind them, where the run is as short as the
// way from one launch to the next.
// kDivides: the pool may divide by the number of rows. kLong: there is a kernel for long bags.
template <class Reader, Reduction kReduction, bool kDivides, bool kLong>
void launch_pool(const BagCall& call, int64_t entry_step) {
  const auto stream = static_cast<Stream>(call.launch.stream);
  const BagNest& nest = call.nest;
  const bool listed = nest.per_bag < 0;
  BagArgs args = bag_args(call);
  args.entry_step = entry_step;
  divide_bags<Reader>(args);
  bool has_long = false;
  if constexpr (kLong) {
    const int64_t limit = long_limit_of(nest);
    has_long = (listed ? nest.entries : nest.per_bag) > limit;
    args.long_limit = has_long ? limit : INT64_MAX;
  }
  if (listed) {
    launch_segments(nest, call.buffers, args.segments, args.long_limit, stream);
  }
  const bool long_first = nest.entries / nest.bags > kShortAverage;
  if constexpr (kLong) {
    if (has_long && (!listed || long_first)) {
      launch_long<Reader, kReduction>(args, listed, stream);
    }
    if (has_long && !listed) {
      return;
    }
  }
  args.beside = has_long && long_first;
  if (reads_unchecked<Reader, kReduction, kDivides>(args)) {
    args.unchecked = call.buffers.segments;
  }
  launch_short<Reader, kReduction, kDivides>(args, listed, stream);
  if constexpr (kLong) {
    args.unchecked = nullptr;
    if (has_long && !long_first) {
      launch_long<Reader, kReduction>(args, true, stream);
    }
  }
}

}  // namespace sheaf::cuda
