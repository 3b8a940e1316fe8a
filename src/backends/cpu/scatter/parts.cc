// SPDX-License-Identifier: MIT
//
// A scatter cut along the loops that move through data without an index (slices and batches) and
// along its rows: parts that share no element, whatever the indices are.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter/kernels.h"
#include "backends/cpu/strip.h"

namespace sheaf::cpu {
namespace {

// How long the pieces are into which each loop is cut; grid loops are left whole.
struct Cut {
  Fixed<int64_t> pieces;
  int64_t row_piece;  // bytes

  int64_t parts(const Nest& nest) const {
    int64_t count = divided_up(nest.row_bytes, row_piece);
    for (int l = 0; l < nest.loops.size(); ++l) {
      count *= divided_up(nest.loops[l].extent, pieces[l]);
    }
    return count;
  }
};

bool has_grid_loop(const Nest& nest) {
  return std::any_of(nest.loops.begin(), nest.loops.end(),
                     [](const Loop& loop) { return loop.data == 0 && loop.extent > 1; });
}

// The least that a piece of loop `l` may be for pieces to share no line.
int64_t least_piece(const Loop& loop) {
  return divided_up(kLine, std::clamp<int64_t>(std::abs(loop.data), 1, kLine));
}

// Where columns of data are walked inside a grid loop: a strip of them that stays in cache.
int64_t strip(const Nest& nest) {
  const Loop& inner = innermost(nest);
  if (inner.data == 0 || !has_grid_loop(nest)) {
    return inner.extent;
  }
  const int64_t bytes = std::max(kLine, caches().l2 / 2 / entry_count(nest, caches().l2));
  return std::min(inner.extent, std::max(bytes / std::abs(inner.data), least_piece(inner)));
}

// Points per run of the innermost loop: up to four runs per thread, fewer rather than short ones.
int64_t run_length(const Loop& loop, int64_t threads) {
  const int64_t each = std::clamp<int64_t>(divided_up(loop.extent, threads) / kScatter.least_run, 1,
                                           kScatter.parts_per_thread);
  return divided_up(loop.extent, threads * each);
}

// Parts that the loops outside the innermost one are cut into.
int64_t parts_before(const Nest& nest, const Cut& cut) {
  int64_t count = 1;
  for (int l = 0; l + 1 < nest.loops.size(); ++l) {
    count *= divided_up(nest.loops[l].extent, cut.pieces[l]);
  }
  return count;
}

Cut cut_nest(const Nest& nest, int threads) {
  Cut cut{{}, nest.row_bytes};
  for (const Loop& loop : nest.loops) {
    cut.pieces.push_back(loop.extent);
  }
  if (!nest.loops.empty()) {
    cut.pieces.back() = strip(nest);
  }
  const int64_t wanted = threads > 1 ? threads * kScatter.parts_per_thread : 1;
  for (int l = 0; l < nest.loops.size() && cut.parts(nest) < wanted; ++l) {
    const Loop& loop = nest.loops[l];
    if (loop.data != 0) {
      const bool is_run =
          l + 1 == nest.loops.size() && has_grid_loop(nest) && nest.row_bytes < kLine;
      const int64_t missing = divided_up(wanted, cut.parts(nest));
      const int64_t piece = is_run ? run_length(loop, divided_up(threads, parts_before(nest, cut)))
                                   : divided_up(cut.pieces[l], missing);
      cut.pieces[l] = std::min(cut.pieces[l], std::max(piece, least_piece(loop)));
    }
  }
  if (const int64_t parts = cut.parts(nest); parts < wanted) {
    const int64_t piece = divided_up(nest.row_bytes, divided_up(wanted, parts));
    cut.row_piece =
        std::min(nest.row_bytes, std::max(divided_up(piece, kScatter.least_columns), int64_t{1}) *
                                     kScatter.least_columns);
  }
  return cut;
}

// The loop inside which a part's data is a strip of columns that is visited often enough to be
// copied side by side first. -1: none.
int packed_loop(const Nest& nest, const Cut& cut) {
  const Loop& inner = innermost(nest);
  const int last = nest.loops.size() - 1;
  int first_grid = 0;
  while (first_grid < last && nest.loops[first_grid].data != 0) {
    ++first_grid;
  }
  int64_t visits = 1;
  for (int l = first_grid; l < last; ++l) {
    visits *= nest.loops[l].data == 0 ? nest.loops[l].extent : 0;
  }
  const bool one_strip = last > 0 && nest.coordinates.size() == 1 && inner.data == nest.row_bytes &&
                         cut.row_piece == nest.row_bytes;
  if (!one_strip || visits < nest.coordinates[0].extent) {
    return -1;
  }
  const int64_t bytes = entry_count(nest, caches().l2) * cut.pieces.back() * inner.data;
  return bytes > caches().l2 / 64 && bytes <= caches().l2 ? first_grid : -1;
}

// One part: ranges of the loops, and of the row's bytes.
class Part {
 public:
  Part(const Nest& nest, const ScatterBuffers& buffers, const Cut& cut, int64_t number,
       const Launch& launch)
      : nest_(nest), buffers_(buffers), launch_(launch), packed_loop_(packed_loop(nest, cut)) {
    const int64_t row_pieces = divided_up(nest.row_bytes, cut.row_piece);
    first_byte_ = number % row_pieces * cut.row_piece;
    bytes_ = std::min(cut.row_piece, nest.row_bytes - first_byte_);
    number /= row_pieces;
    for (int l = 0; l < nest.loops.size(); ++l) {
      const int64_t pieces = divided_up(nest.loops[l].extent, cut.pieces[l]);
      const int64_t begin = number % pieces * cut.pieces[l];
      begins_.push_back(begin);
      extents_.push_back(std::min(cut.pieces[l], nest.loops[l].extent - begin));
      number /= pieces;
    }
  }

  // False if it checks and met a bad index.
  bool reduce(int64_t prefetch_rows) const {
    return packed_loop_ >= 0 ? reduce_strips(0, {}) : reduce_from(0, {}, prefetch_rows);
  }

 private:
  // Where data lies, from loop `l` on. A reducer takes 32 KiB of stack: neither this nor
  // reduce_packed() is inlined, so that there is only ever one.
  [[gnu::noinline]] bool reduce_from(int l, const Place& start, int64_t prefetch_rows) const {
    RunReducer reducer(nest_, buffers_, prefetch_rows, first_byte_, bytes_, launch_);
    return loops(reducer, l, start);
  }

  bool loops(RunReducer& reducer, int l, Place start) const {
    if (l >= nest_.loops.size()) {
      return reducer.reduce(start, 1);
    }
    const Loop& loop = nest_.loops[l];
    start.advance(loop, begins_[l]);
    if (l + 1 == nest_.loops.size()) {
      return reducer.reduce(start, extents_[l]);
    }
    if (l + 2 == nest_.loops.size() && reducer.joins_runs() &&
        extents_[l + 1] == nest_.loops[l + 1].extent) {
      return reducer.reduce_runs(start, extents_[l]);
    }
    bool good = true;
    for (int64_t p = 0; p < extents_[l] && !reducer.cancelled(); ++p, start.advance(loop, 1)) {
      prefetch_ahead(reducer, l, p, start);
      good &= loops(reducer, l + 1, start);
    }
    return good;
  }

  // The short run that is ScatterTuning::runs_ahead steps of loop `l` away.
  void prefetch_ahead(const RunReducer& reducer, int l, int64_t p, Place start) const {
    const int last = nest_.loops.size() - 1;
    if (l + 1 == last && extents_[last] <= kScatter.short_run &&
        p + kScatter.runs_ahead < extents_[l]) {
      start.advance(nest_.loops[l], kScatter.runs_ahead);
      start.advance(nest_.loops[last], begins_[last]);
      reducer.prefetch(start, extents_[last]);
    }
  }

  bool reduce_strips(int l, Place start) const {
    if (l == packed_loop_) {
      return reduce_strip(start);
    }
    bool good = true;
    start.advance(nest_.loops[l], begins_[l]);
    const CancelPoint cancel(launch_.cancel);
    for (int64_t p = 0; p < extents_[l] && !cancel.stopped();
         ++p, start.advance(nest_.loops[l], 1)) {
      good &= reduce_strips(l + 1, start);
    }
    return good;
  }

  // Brings a strip together, reduces all its updates there, and puts it back.
  bool reduce_strip(Place start) const {
    const Loop& inner = innermost(nest_);
    const int64_t width = extents_.back() * inner.data;
    std::byte* const first = buffers_.data + start.data + begins_.back() * inner.data;
    Strip strip(nest_.coordinates[0], width);
    if (strip.data() == nullptr) {
      return reduce_from(packed_loop_, start, 0);  // slower, and needs no memory
    }
    strip.fill(first, width);
    start.data = -begins_.back() * inner.data;  // the strip begins where the loop does
    const bool good = reduce_packed(strip, start);
    strip.put_back(first, width);
    return good;
  }

  [[gnu::noinline]] bool reduce_packed(const Strip& strip, const Place& start) const {
    Nest packed = nest_;
    packed.coordinates[0] = strip.coordinate();
    const ScatterBuffers buffers{strip.data(), buffers_.indices, buffers_.updates};
    RunReducer reducer(packed, buffers, 0, 0, nest_.row_bytes, launch_);
    return loops(reducer, packed_loop_, start);
  }

  const Nest& nest_;
  const ScatterBuffers& buffers_;
  const Launch& launch_;
  const int packed_loop_;
  Fixed<int64_t> begins_, extents_;
  int64_t first_byte_, bytes_;
};

// What one part's updates are spread over between two visits to the same line.
int64_t spread_bytes(const Nest& nest, const Cut& cut) {
  const Loop& inner = innermost(nest);
  const int64_t strip_bytes =
      inner.data == 0 ? cut.row_piece
                      : std::abs(inner.data) * (nest.loops.empty() ? 1 : cut.pieces.back());
  return entry_count(nest, caches().l2) * std::clamp(strip_bytes, kLine, caches().l2);
}

}  // namespace

bool scatter_parts(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const Threads threads = worthwhile_threads(
      point_count(nest) * std::max(2 * nest.row_bytes, int64_t{8}), launch.threads);
  const Cut cut = cut_nest(nest, threads.count);
  const int64_t ahead = rows_ahead(nest, spread_bytes(nest, cut));
  std::atomic<bool> good{true};
  parallel_ranges(cut.parts(nest), threads, [&](int64_t begin, int64_t end) {
    const CancelPoint cancel(launch.cancel);
    for (int64_t number = begin; number < end && !cancel.stopped(); ++number) {
      if (!Part(nest, buffers, cut, number, launch).reduce(ahead)) {
        good.store(false, std::memory_order_relaxed);
      }
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace sheaf::cpu
