// SPDX-License-Identifier: MIT
//
// A scatter whose updates are first sorted by where they go: a counting sort into ranges of data,
// stable, so that the updates of an element stay in order. It is done a segment of updates at a
// time: the lists stay in cache, and no more memory is taken however many updates there are.
#include <algorithm>
#include <array>
#include <atomic>

#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter/kernels.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kSegment = kScatter.sorted_updates;
constexpr int64_t kRanges = kScatter.sorted_ranges;

using Counts = std::array<int64_t, kRanges>;

// The most updates that are sorted at a time.
size_t segment_points(const Nest& nest) {
  return static_cast<size_t>(std::min(kSegment, point_count(nest)));
}

class Sorter {
 public:
  // The launch has a workspace of sorting_bytes().
  Sorter(const Nest& nest, const ScatterBuffers& buffers, Threads threads, const Launch& launch)
      : nest_(nest),
        buffers_(buffers),
        threads_(threads),
        check_(launch.check_while_moving),
        cancel_(launch.cancel),
        reach_(data_reach(nest)),
        counts_(reinterpret_cast<Counts*>(launch.workspace)),
        reduce_(reducer_for(nest.element_type, nest.reduction, nest.row_bytes)),
        places_(reinterpret_cast<int64_t*>(counts_ + threads.count)),
        to_(places_ + segment_points(nest)),
        from_(to_ + segment_points(nest)) {
    while ((reach_.hi - reach_.lo) >> shift_ >= kRanges) {
      ++shift_;
    }
  }

  // False if it checks and met a bad index.
  bool run() {
    const int64_t points = point_count(nest_);
    for (int64_t begin = 0; begin < points && good_ && !cancelled(); begin += kSegment) {
      run_segment(begin, std::min(kSegment, points - begin));
    }
    return good_;
  }

 private:
  void run_segment(int64_t begin, int64_t points) {
    each_chunk(points, [&](int64_t chunk, int64_t first, int64_t last) {
      find_places(begin, first, last, counts_[chunk]);
    });
    begins_of_ranges();
    each_chunk(points, [&](int64_t chunk, int64_t first, int64_t last) {
      sort_into_ranges(begin, first, last, counts_[chunk]);
    });
    const int64_t ahead = rows_ahead(nest_, INT64_MAX);  // if not the data, the updates are far
    parallel_ranges(kRanges, threads_, [&](int64_t first, int64_t last) {
      const int64_t from = range_begins_[static_cast<size_t>(first)];
      const int64_t count = range_begins_[static_cast<size_t>(last)] - from;
      reduce_in_blocks({.data = buffers_.data,
                        .to = to_ + from,
                        .updates = buffers_.updates,
                        .from = from_ + from,
                        .update_step = 0,
                        .count = count,
                        .row_bytes = nest_.row_bytes,
                        .prefetch_rows = ahead,
                        .reduce = reduce_row(nest_.element_type, nest_.reduction)});
    });
  }

  bool cancelled() const { return CancelPoint(cancel_).stopped(); }

  void reduce_in_blocks(const RowReduction& all) const {
    CancelPoint cancel(cancel_);
    const int64_t block =
        std::max<int64_t>(kBlock, CancelPoint::kPieceBytes / std::max(nest_.row_bytes, kLine));
    RowReduction rows = all;
    for (int64_t at = 0; at < all.count; at += block) {
      rows.count = std::min(block, all.count - at);
      if (cancel.before_rows(rows.count, nest_.row_bytes)) {
        return;
      }
      reduce_(rows);
      rows.to += rows.count;
      rows.from += rows.count;
    }
  }

  // Calls work(chunk, first, last): a share of a segment's points for each thread.
  template <class Work>
  void each_chunk(int64_t points, const Work& work) {
    const int64_t chunks = threads_.count;
    parallel_ranges(chunks, threads_, [&](int64_t begin, int64_t end) {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        work(chunk, points * chunk / chunks, points * (chunk + 1) / chunks);
      }
    });
  }

  size_t range_of(int64_t place) const {
    return static_cast<size_t>((place - reach_.lo) >> shift_);
  }

  // Indices are read only once: if the caller changes them meanwhile, the counts still hold.
  void find_places(int64_t begin, int64_t first, int64_t last, Counts& counts) {
    counts.fill(0);
    const Loop& inner = innermost(nest_);
    int64_t* places = places_ + first;
    for_each_run(
        nest_, begin + first, begin + last, kBlock, [&](const Place& start, int64_t count) {
          const std::byte* indices = buffers_.indices + start.index * nest_.index_type.bytes();
          if (!routines().resolve(nest_, {indices, inner.index, count, inner.data, check_},
                                  places)) {
            good_ = false;
          }
          for (int64_t i = 0; i < count; ++i) {
            if (places[i] != kSkipRow) {
              places[i] += start.data;
              ++counts[range_of(places[i])];
            }
          }
          places += count;
          return true;
        });
  }

  // From how many there are to where they begin: ranges in order, and chunks in order within one.
  void begins_of_ranges() {
    int64_t sum = 0;
    for (size_t range = 0; range < kRanges; ++range) {
      range_begins_[range] = sum;
      for (size_t chunk = 0; chunk < static_cast<size_t>(threads_.count); ++chunk) {
        const int64_t count = counts_[chunk][range];
        counts_[chunk][range] = sum;
        sum += count;
      }
    }
    range_begins_[kRanges] = sum;
  }

  void sort_into_ranges(int64_t begin, int64_t first, int64_t last, Counts& next) {
    const Loop& inner = innermost(nest_);
    const int64_t* places = places_ + first;
    for_each_run(nest_, begin + first, begin + last, kBlock,
                 [&](const Place& start, int64_t count) {
                   for (int64_t i = 0; i < count; ++i) {
                     if (places[i] != kSkipRow) {
                       const int64_t at = next[range_of(places[i])]++;
                       to_[static_cast<size_t>(at)] = places[i];
                       from_[static_cast<size_t>(at)] = start.output + i * inner.output;
                     }
                   }
                   places += count;
                   return true;
                 });
  }

  const Nest& nest_;
  const ScatterBuffers& buffers_;
  const Threads threads_;
  const bool check_;
  const CancelScope* const cancel_;
  std::atomic<bool> good_{true};
  const ByteRange reach_;
  int shift_ = 0;
  Counts* counts_;  // by chunk
  std::array<int64_t, kRanges + 1> range_begins_;
  ReduceRows reduce_;
  int64_t *places_, *to_, *from_;
};

}  // namespace

size_t sorting_bytes(const Nest& nest, int threads) {
  return static_cast<size_t>(threads) * sizeof(Counts) + 3 * segment_points(nest) * sizeof(int64_t);
}

bool scatter_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch,
                    Threads threads) {
  return Sorter(nest, buffers, threads, launch).run();
}

}  // namespace sheaf::cpu
