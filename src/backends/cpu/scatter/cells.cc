// SPDX-License-Identifier: MIT
//
// A scatter whose threads own cells of data, in one of three ways.
#include <algorithm>
#include <atomic>

#include "backends/cpu/machine.h"
#include "backends/cpu/scatter/kernels.h"

namespace sheaf::cpu {
namespace {

enum class Way {
  kInOrder,  // one thread
  kShared,   // each thread resolves all indices and applies the updates of its own cells
  kSorted,   // the updates are sorted by cell first
};

// Nanoseconds per update.
double reduce_cost(const Nest& nest, int64_t reach) {
  const auto bytes = static_cast<double>(nest.row_bytes);
  return reach > caches().l2 / 2 ? kScatter.reduce_far + bytes * kScatter.reduce_far_byte
                                 : kScatter.reduce_near + bytes * kScatter.reduce_near_byte;
}

struct Choice {
  Way way;
  Threads threads;
};

Choice choose_way(const Nest& nest, int limit) {
  const auto updates = static_cast<double>(point_count(nest));
  const Threads threads =
      worthwhile_threads(point_count(nest) * std::max(2 * nest.row_bytes, kLine), limit);
  const double p = threads.count;
  const ByteRange reach = data_reach(nest);
  const double reduce = reduce_cost(nest, reach.hi - reach.lo);
  const double in_order = updates * reduce;
  const double shared = updates * (kScatter.resolve + reduce / p) + kScatter.wake;
  const double sorted = updates * (kScatter.sort + reduce) / p + kScatter.wake;
  if (threads.count == 1 || in_order <= std::min(shared, sorted)) {
    return {Way::kInOrder, {1, 1}};
  }
  return {shared <= sorted ? Way::kShared : Way::kSorted, threads};
}

}  // namespace

// A cell is a line or a row, whichever is larger: no two threads then write to one line.
Share::Share(const Nest& nest, int64_t owner, int64_t owners)
    : first_(data_reach(nest).lo),
      owner_(static_cast<uint64_t>(owner)),
      owners_(static_cast<uint64_t>(owners)) {
  while ((int64_t{1} << shift_) < std::max(nest.row_bytes, kLine)) {
    ++shift_;
  }
}

bool scatter_shared(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch,
                    Threads threads) {
  const ByteRange reach = data_reach(nest);
  const int64_t ahead = rows_ahead(nest, reach.hi - reach.lo);
  std::atomic<bool> good{true};
  parallel_ranges(threads.count, threads, [&](int64_t begin, int64_t end) {
    for (int64_t owner = begin; owner < end; ++owner) {
      RunReducer reducer(nest, buffers, ahead, 0, nest.row_bytes, launch,
                         Share(nest, owner, threads.count));
      for_each_run(nest, 0, point_count(nest), kBlock, [&](const Place& start, int64_t count) {
        if (!reducer.reduce(start, count)) {
          good.store(false, std::memory_order_relaxed);
        }
        return !reducer.cancelled();
      });
    }
  });
  return good.load(std::memory_order_relaxed);
}

size_t scatter_cells_bytes(const Nest& nest, int threads) {
  const Choice choice = choose_way(nest, threads);
  return choice.way == Way::kSorted ? sorting_bytes(nest, choice.threads.count) : 0;
}

bool scatter_cells(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const Choice choice = choose_way(nest, launch.threads);
  switch (choice.way) {
    case Way::kInOrder: break;
    case Way::kShared: return scatter_shared(nest, buffers, launch, choice.threads);
    case Way::kSorted:
      if (launch.workspace != nullptr) {
        return scatter_sorted(nest, buffers, launch, choice.threads);
      }
      break;  // the same bits, and no memory needed
  }
  return scatter_in_order(nest, buffers, launch);
}

}  // namespace sheaf::cpu
