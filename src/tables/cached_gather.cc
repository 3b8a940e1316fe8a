// SPDX-License-Identifier: MIT
#include "tables/cached_gather.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "execution/run.h"
#include "plan/nest_shape.h"
#include "tables/host_indices.h"
#include "tables/piece_plan.h"
#include "tables/resolve_points.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr uint64_t kNoVersion = ~uint64_t{0};

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
        delivery_(call, lane) {}

  TableStats run() {
    open_cache();
    const FoundRows found = find(false);
    place_found(found);
    deliver(offsets_of(found.missed_rows), found.missed_points, false);
    stats_.rows = points_;
    return stats_;
  }

  TableStats prefetch() {
    open_cache();
    if (!cache_->holds_given_rows()) {
      const FoundRows found = find(true);
      deliver(first_missed(found.missed_rows), {}, true);
    }
    stats_.rows_prefetched = std::exchange(stats_.rows_fetched, 0);
    stats_.cache_hits = stats_.cache_misses = 0;
    return stats_;
  }

 private:
  void deliver(std::span<const int64_t> offsets, std::span<const int32_t> points, bool surely) {
    KeptRows* const admitting = cache_->holds_given_rows() ? nullptr : cache_;
    try {
      delivery_.deliver(offsets, points, admitting, surely);
      delivery_.workers().check_unchanged();
    } catch (...) {
      cache_->version = kNoVersion;  // slots may have been promised to rows that never came
      throw;
    }
  }

  // Each once, as many as the cache has slots for.
  std::span<const int64_t> first_missed(std::span<const int64_t> rows) {
    DistinctRows seen;
    seen.clear(std::ssize(rows));
    for (const int64_t row : rows) {
      static_cast<void>(seen.number_of(row));
    }
    const std::span<const int64_t> all = seen.offsets();
    return offsets_of(all.first(std::min(all.size(), static_cast<size_t>(cache_->slots()))));
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
    const uint64_t version = delivery_.workers().rows().version();
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
    std::optional<std::vector<int64_t>> written =
        delivery_.workers().rows().written_since(cache_->version);
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

  // Slots follow one another.
  void fetch_given(std::span<const int64_t> given) {
    if (cache_->holds_given_rows()) {
      delivery_.deliver(offsets_of(given.first(static_cast<size_t>(cache_->slots()))),
                        cache_->memory());
    }
  }

  std::span<const int64_t> offsets_of(std::span<const int64_t> rows) {
    lane_.offsets.resize(rows.size());
    std::ranges::transform(rows, lane_.offsets.begin(),
                           [&](int64_t row) { return row * nest_.row_bytes; });
    return lane_.offsets;
  }

  // Indices that are on a device which looks rows up stay there, unless one of them is bad.
  FoundRows find(bool protect) {
    const bool travels = !lane_.looks_up_rows() || call_.index_place == IndexPlace::kHost ||
                         !has_plain_indices(nest_);
    const FoundRows found = travels ? find_on_host(protect) : find_on_device(protect);
    delivery_.workers().begin();
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
    return cache_->find(
        lane_, {.count = points_, .threads = call_.table.state().options.threads, .offsets = all},
        protect);
  }

  // Rows that were missed are filled here, and overwritten when they come.
  void place_found(const FoundRows& found) {
    const Plan plan = plan_of_piece(call_.plan, whole(nest_), cache_->slots());
    Queue queue = lane_.queue();
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    start_gather(plan, {cache_->memory(), found.slots, nullptr, call_.output}, queue, {});
    lane_.mark();
  }

  const Call& call_;
  const Nest& nest_;
  Lane& lane_;
  const int64_t points_;
  RowDelivery delivery_;
  TableStats& stats_ = delivery_.stats;
  KeptRows* cache_ = nullptr;
};

}  // namespace

bool uses_cache(const Call& call) {
  return has_free_order(call) && bytes_of_rows(call.plan.data()) == call.plan.nest().row_bytes &&
         slots_of(call) > 0;
}

TableStats run_cached(const Call& call, Lane& lane) { return CachedGather(call, lane).run(); }

TableStats prefetch_cached(const Call& call, Lane& lane) {
  return CachedGather(call, lane).prefetch();
}

}  // namespace sheaf::tables
