// SPDX-License-Identifier: MIT
#include "tables/cached_gather.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "execution/run.h"
#include "plan/index_error.h"
#include "plan/nest_shape.h"
#include "tables/resolve_points.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr uint64_t kNoVersion = ~uint64_t{0};
constexpr int64_t kCachedAlignment = 16;
constexpr int64_t kCachedNumberBytes = sizeof(int32_t);

constexpr int64_t aligned_cached(int64_t bytes) {
  return (bytes + kCachedAlignment - 1) / kCachedAlignment * kCachedAlignment;
}

// A cache is no larger than the table.
int64_t slots_of(const Call& call) {
  const int64_t row_bytes = call.plan.nest().row_bytes;
  return std::min({call.table.state().options.cache_bytes / row_bytes, call.plan.data().sizes[0],
                   kMostNumberedRows});
}

Piece whole(const Nest& nest) { return {.loops = nest.loops, .points = point_count(nest)}; }

// Whether each point has one index, in their order.
bool has_plain_indices(const Nest& nest) {
  return nest.coordinates.size() == 1 && nest.coordinates[0].offset == 0 &&
         (nest.loops.empty() || (nest.loops.size() == 1 && nest.loops[0].index == 1 &&
                                 nest.loops[0].data == 0 && nest.loops[0].window == 0));
}

class CachedGather {
 public:
  CachedGather(const Call& call, Lane& lane)
      : call_(call),
        nest_(call.plan.nest()),
        lane_(lane),
        points_(point_count(nest_)),
        workers_(call, lane, bytes_of_one_row()) {
    const int64_t per_row = nest_.row_bytes + 2 * kCachedNumberBytes + KeptRows::kClaimBytes;
    most_rows_ = std::max<int64_t>((lane.piece_bytes() - 4 * kCachedAlignment) / per_row, 1);
  }

  TableStats run() {
    with_cache([&] {
      const FoundRows found = find(false);
      place_found(found);
      fetch(found.missed_rows, found.missed_points, false);
    });
    stats_.rows = points_;
    return stats_;
  }

  TableStats prefetch() {
    with_cache([&] {
      if (cache_->holds_given_rows()) {
        return;
      }
      const FoundRows found = find(true);
      const auto room = static_cast<size_t>(std::max<int64_t>(cache_->slots() - found.hits, 0));
      fetch(found.missed_rows.first(std::min(room, found.missed_rows.size())), {}, true);
    });
    stats_.rows_prefetched = std::exchange(stats_.rows_fetched, 0);
    stats_.cache_hits = stats_.cache_misses = 0;
    return stats_;
  }

 private:
  // Of a piece: rows, of each point its row and its place, and what is claimed.
  struct Layout {
    int64_t numbers, points, claims, bytes;
  };
  Layout layout(int64_t rows, int64_t points) const {
    Layout at{};
    at.numbers = aligned_cached(rows * nest_.row_bytes);
    at.points = aligned_cached(at.numbers + points * kCachedNumberBytes);
    at.claims = aligned_cached(at.points + points * kCachedNumberBytes);
    at.bytes = aligned_cached(at.claims + rows * KeptRows::kClaimBytes);
    return at;
  }
  int64_t bytes_of_one_row() const { return layout(1, 1).bytes; }

  template <class Work>
  void with_cache(const Work& work) {
    try {
      open_cache();
      work();
    } catch (...) {
      if (cache_ != nullptr) {  // rows may have been promised that never came
        cache_->version = kNoVersion;
      }
      throw;
    }
    workers_.check_unchanged();
  }

  void open_cache() {
    const std::vector<int64_t>& given = call_.table.state().options.cached_rows;
    if (lane_.cache == nullptr) {
      lane_.cache = KeptRows::make(lane_.backend(), nest_.row_bytes, call_.plan.data().sizes[0],
                                   slots_of(call_), given);
      lane_.cache->version = kNoVersion;
    }
    cache_ = lane_.cache.get();
    cache_->begin_round();
    const uint64_t version = workers_.rows().version();
    const uint64_t forgotten = call_.table.state().forgotten;
    if (cache_->forgotten != forgotten || !follow_writes(version)) {
      cache_->version = kNoVersion;
      cache_->clear(lane_);
      fetch_given(given);
    }
    cache_->version = version;
    cache_->forgotten = forgotten;
  }

  // Drops rows that were written to. False if all have to go.
  bool follow_writes(uint64_t version) {
    if (cache_->version == version) {
      return true;
    }
    if (cache_->version == kNoVersion) {
      return false;
    }
    std::optional<std::vector<int64_t>> written = workers_.rows().written_since(cache_->version);
    if (!written) {
      return false;
    }
    for (int64_t& offset : *written) {
      offset /= nest_.row_bytes;
    }
    if (cache_->holds_given_rows()) {  // which come back into their slots
      return std::ranges::none_of(*written, [&](int64_t row) { return cache_->is_given(row); });
    }
    cache_->drop(lane_, *written);
    return true;
  }

  // Slots follow one another: each piece of rows is one copy.
  void fetch_given(std::span<const int64_t> given) {
    const int64_t count = cache_->holds_given_rows() ? cache_->slots() : 0;
    workers_.run((count + most_rows_ - 1) / most_rows_, count * nest_.row_bytes,
                 [&](Desk& desk, int64_t piece) {
                   const int64_t first = piece * most_rows_;
                   const int64_t rows = std::min(most_rows_, count - first);
                   desk.scratch.offsets.clear();
                   for (const int64_t row :
                        given.subspan(static_cast<size_t>(first), static_cast<size_t>(rows))) {
                     desk.scratch.offsets.push_back(row * nest_.row_bytes);
                   }
                   std::byte* const memory = desk.begin_piece();
                   desk.rows->fetch(desk.scratch.offsets, nest_.row_bytes, memory);
                   desk.hand_over([&] {
                     lane_.copy(cache_->memory() + first * nest_.row_bytes, memory,
                                rows * nest_.row_bytes);
                     stats_.bytes_to_device += rows * nest_.row_bytes;
                   });
                 });
  }

  // Indices that are on a device which looks rows up stay there, unless one of them is bad.
  FoundRows find(bool protect) {
    const bool travels = !lane_.looks_up_rows() || call_.index_place == IndexPlace::kHost ||
                         !has_plain_indices(nest_);
    const FoundRows found = travels ? find_on_host(protect) : find_on_device(protect);
    stats_.cache_hits = found.hits;
    stats_.cache_misses = std::ssize(found.missed_rows);
    return found;
  }

  FoundRows find_on_device(bool protect) {
    while (true) {
      const FoundRows found = cache_->find(lane_,
                                           {.count = points_,
                                            .indices = call_.indices,
                                            .index_type = nest_.index_type,
                                            .negative = nest_.negative,
                                            .out_of_range = nest_.out_of_range,
                                            .extent = nest_.coordinates[0].extent},
                                           protect);
      if (found.bad == 0) {
        return found;
      }
      const HostIndices thrown(call_, lane_);  // unless they have changed meanwhile
    }
  }

  FoundRows find_on_host(bool protect) {
    const HostIndices indices(call_, lane_);
    auto* const offsets = reinterpret_cast<int64_t*>(lane_.resolved.get(points_ * 8));
    const std::span all(offsets, static_cast<size_t>(points_));
    static_cast<void>(resolve_points(indices.plan().nest(), indices.data(), 0, all,
                                     call_.table.state().options.threads));
    return cache_->find(lane_, {.count = points_, .offsets = all}, protect);
  }

  // Rows that were missed are filled here, and overwritten when they come.
  void place_found(const FoundRows& found) {
    const Plan plan = plan_of_piece(call_.plan, whole(nest_), cache_->slots());
    Queue queue = lane_.queue();
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    start_gather(plan, {cache_->memory(), found.slots, nullptr, call_.output}, queue, {});
    lane_.mark();
  }

  // `points`: which row of the output each is; empty: they are for the cache alone.
  void fetch(std::span<const int64_t> rows, std::span<const int32_t> points, bool surely) {
    lane_.staging(lane_.piece_bytes());
    const int64_t count = std::ssize(rows);
    workers_.run((count + most_rows_ - 1) / most_rows_, count * nest_.row_bytes,
                 [&](Desk& desk, int64_t piece) {
                   const auto first = static_cast<size_t>(piece * most_rows_);
                   const auto some = std::min(static_cast<size_t>(most_rows_), rows.size() - first);
                   fetch_piece(desk, rows.subspan(first, some),
                               points.empty() ? points : points.subspan(first, some), surely);
                 });
  }

  void fetch_piece(Desk& desk, std::span<const int64_t> rows, std::span<const int32_t> points,
                   bool surely) {
    PieceScratch& scratch = desk.scratch;
    scratch.seen.clear(std::ssize(rows));
    scratch.numbers.clear();
    for (const int64_t row : rows) {
      scratch.numbers.push_back(scratch.seen.number_of(row));
    }
    const std::span<const int64_t> distinct = scratch.seen.offsets();
    scratch.offsets.clear();
    for (const int64_t row : distinct) {
      scratch.offsets.push_back(row * nest_.row_bytes);
    }
    const Layout at = layout(std::ssize(distinct), std::ssize(rows));
    std::byte* const memory = desk.begin_piece();
    desk.rows->fetch(scratch.offsets, nest_.row_bytes, memory);
    if (!points.empty()) {
      std::memcpy(memory + at.numbers, scratch.numbers.data(), rows.size() * kCachedNumberBytes);
      std::memcpy(memory + at.points, points.data(), points.size_bytes());
    }
    cache_->claim(distinct, surely, memory + at.claims);
    desk.hand_over([&] { hand_over(memory, at, std::ssize(distinct), points, surely); });
  }

  // One thread at a time.
  void hand_over(const std::byte* memory, const Layout& at, int64_t rows,
                 std::span<const int32_t> points, bool surely) {
    std::byte* const there = lane_.staging(at.bytes);
    lane_.copy(there, memory, at.bytes);
    const auto numbers = [&](int64_t offset) {
      return reinterpret_cast<const int32_t*>(there + offset);
    };
    const DType type = call_.plan.data().dtype;
    if (!points.empty()) {
      lane_.move_rows({.from = there,
                       .from_numbers = numbers(at.numbers),
                       .to = static_cast<std::byte*>(call_.output),
                       .to_numbers = numbers(at.points),
                       .count = std::ssize(points),
                       .row_bytes = nest_.row_bytes,
                       .from_rows = rows,
                       .to_rows = points_},
                      type);
    }
    if (!cache_->holds_given_rows()) {
      lane_.move_rows({.from = there,
                       .from_numbers = nullptr,
                       .to = cache_->memory(),
                       .to_numbers = cache_->claimed(lane_, there + at.claims, rows, surely),
                       .count = rows,
                       .row_bytes = nest_.row_bytes,
                       .from_rows = rows,
                       .to_rows = cache_->slots()},
                      type);
    }
    stats_.bytes_to_device += at.bytes;
    stats_.rows_fetched += rows;
    ++stats_.pieces;
  }

  const Call& call_;
  const Nest& nest_;
  Lane& lane_;
  const int64_t points_;
  PieceWorkers workers_;
  int64_t most_rows_ = 1;  // of a piece
  KeptRows* cache_ = nullptr;
  TableStats stats_;
};

}  // namespace

bool uses_cache(const Call& call) {
  const Nest& nest = call.plan.nest();
  return !nest.empty() && call.encoded == nullptr && call.bag == nullptr &&
         bytes_of_rows(call.plan.data()) == nest.row_bytes && slots_of(call) > 0 &&
         point_count(nest) <= kMostNumberedRows && is_contiguous(whole(nest), nest.row_bytes);
}

TableStats run_cached(const Call& call, Lane& lane) { return CachedGather(call, lane).run(); }

TableStats prefetch_cached(const Call& call, Lane& lane) {
  return CachedGather(call, lane).prefetch();
}

}  // namespace sheaf::tables
