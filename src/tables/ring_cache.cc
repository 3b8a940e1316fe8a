// SPDX-License-Identifier: MIT
//
// The rows that a lane keeps on its device: when they are worth nothing any more, how they come,
// and those that are brought ahead of time.
#include <algorithm>

#include "execution/run.h"
#include "plan/request.h"
#include "plan/resolve.h"
#include "tables/resolve_points.h"
#include "tables/ring_gather.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr uint64_t kNoVersion = ~uint64_t{0};

// A cache is no larger than the table.
int64_t slots_for(const TableOptions& options, int64_t row_bytes, int64_t rows) {
  return std::min({options.cache_bytes / row_bytes, rows, kMostNumberedRows});
}

// The plan of the same rows, of which those out of range are left out.
Plan without_refusals(const Plan& plan) {
  Request request = plan.request();
  OutOfRange& rule = request.rule.out_of_range;
  rule = rule == OutOfRange::kFail || rule == OutOfRange::kTrust ? OutOfRange::kFill : rule;
  return make_plan(request);
}

}  // namespace

template <class Work>
void RingGather::with_cache(const Work& work) {
  reserve();
  try {
    open_cache();
    work();
  } catch (...) {
    if (cache_ != nullptr) {  // rows may have been promised that never came
      cache_->clear();
      cache_->version = kNoVersion;
    }
    throw;
  }
  rows_->check_unchanged();
}

// The lane's cache, if this call can use it.
void RingGather::open_cache() {
  const int64_t slots = call_.encoded != nullptr || bytes_of_rows(plan_.data()) != nest_.row_bytes
                            ? 0
                            : slots_for(options_, nest_.row_bytes, plan_.data().sizes[0]);
  if (slots == 0) {
    return;
  }
  if (lane_.cache == nullptr) {
    lane_.cache =
        std::make_unique<DeviceCache>(lane_.backend().name, nest_.row_bytes, most_points_, slots);
    lane_.cache->version = kNoVersion;
  }
  cache_ = lane_.cache.get();
  most_points_ = std::min(most_points_, cache_->staged());
  const uint64_t version = rows_->version();
  const uint64_t forgotten = call_.table.state().forgotten;
  if (cache_->forgotten != forgotten || !follow_writes(version)) {
    cache_->clear();
    if (!options_.cached_rows.empty()) {
      fill_static_cache();
    }
  }
  cache_->version = version;
  cache_->forgotten = forgotten;
}

// Drops rows that were written to. False if all have to go.
bool RingGather::follow_writes(uint64_t version) {
  if (cache_->version == version) {
    return true;
  }
  if (cache_->version == kNoVersion) {
    return false;
  }
  const std::optional<std::vector<int64_t>> written = rows_->written_since(cache_->version);
  if (!written) {
    return false;
  }
  int64_t dropped = 0;
  for (const int64_t offset : *written) {
    dropped += cache_->drop(offset) ? 1 : 0;
  }
  return dropped == 0 || options_.cached_rows.empty();  // given rows come back into their slots
}

// Slots follow one another: each piece of rows is one copy.
void RingGather::fill_static_cache() {
  cache_->is_static = true;
  const std::vector<int64_t>& ids = options_.cached_rows;
  const int64_t count = std::min(std::ssize(ids), cache_->slots());
  for (int64_t first = 0; first < count; first += most_points_) {
    lane_.offsets.clear();
    for (int64_t i = first; i < std::min(first + most_points_, count); ++i) {
      lane_.offsets.push_back(ids[static_cast<size_t>(i)] * nest_.row_bytes);
      cache_->keep(lane_.offsets.back(), static_cast<int32_t>(i));
    }
    const int64_t bytes = std::ssize(lane_.offsets) * nest_.row_bytes;
    std::byte* const memory = lane_.begin_piece();
    rows_->fetch(lane_.offsets, nest_.row_bytes, memory);
    lane_.copy(cache_->slot_memory(first), memory, bytes);
    lane_.end_piece();
    stats_.bytes_to_device += bytes;
  }
}

// The rows that were fetched are updates to the slots that take them.
void RingGather::admit_rows(std::byte* here, std::byte* there, bool surely) {
  lane_.numbers.clear();
  bool any = false;
  for (const int64_t offset : lane_.seen.offsets()) {
    lane_.numbers.push_back(cache_->admit(offset, surely));
    any = any || lane_.numbers.back() >= 0;
  }
  if (!any) {
    return;
  }
  put_numbers(here);
  const auto count = std::ssize(lane_.numbers);
  lane_.copy(there, here, count * kNumberBytes);
  const Plan plan = plan_of_admission(plan_, cache_->slots(), count);
  Queue queue = lane_.queue();
  queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
  std::byte* const slots = cache_->slot_memory(0);
  start_scatter(plan, {slots, there, cache_->memory(), slots}, queue, {});
  stats_.bytes_to_device += count * kNumberBytes;
}

// Calls use(memory) with rows of lane_.seen, a piece at a time, and no more than `most` of all.
template <class Use>
void RingGather::for_lacking_rows(int64_t most, const Use& use) {
  Pieces pieces(nest_, most_points_);
  for (Piece piece; stats_.rows_prefetched < most && pieces.next(piece);) {
    ask_and_throw(cancel_, plan_.request());
    resolve_next(piece.points);
    lane_.seen.clear(piece.points);
    for (const int64_t offset : lane_.resolved) {
      const bool lacking = offset != kOutside && (cache_ == nullptr || !cache_->protect(offset));
      if (lacking && stats_.rows_prefetched + std::ssize(lane_.seen.offsets()) < most) {
        static_cast<void>(lane_.seen.number_of(offset));
      }
    }
    if (lane_.seen.offsets().empty()) {
      continue;
    }
    std::byte* const memory = lane_.begin_piece();
    rows_->fetch(lane_.seen.offsets(), nest_.row_bytes, memory);
    stats_.rows_prefetched += std::ssize(lane_.seen.offsets());
    use(memory);
    lane_.end_piece();
    ++stats_.pieces;
  }
}

// Rows that the cache lacks, as many as it has slots for.
void RingGather::prefetch_to_device() {
  if (cache_->is_static) {
    return;
  }
  cache_->keep_apart();
  for_lacking_rows(cache_->slots(), [&](std::byte* memory) {
    const auto count = std::ssize(lane_.seen.offsets());
    const int64_t rows_bytes = count * nest_.row_bytes;
    lane_.copy(cache_->memory(), memory, rows_bytes);
    stats_.bytes_to_device += rows_bytes;
    admit_rows(memory + aligned_for_numbers(rows_bytes), lane_.staging(piece_bytes_), true);
  });
}

// Reading them is all that a cache of the file asks for.
void RingGather::prefetch_to_host() {
  if (call_.table.place() == TablePlace::kFile && options_.file.cache != nullptr) {
    for_lacking_rows(INT64_MAX, [](std::byte* /*memory*/) {});
  }
}

TableStats RingGather::run() {
  with_cache([&] { run_pieces(); });
  return stats_;
}

TableStats RingGather::prefetch() {
  with_cache([&] { cache_ != nullptr ? prefetch_to_device() : prefetch_to_host(); });
  return stats_;
}

TableStats prefetch_ring(const Call& given) {
  const Plan plan = without_refusals(given.plan);
  const Call call{plan,          given.table, given.queue,      given.device,
                  given.indices, nullptr,     given.index_place};
  check_indices(plan, call.indices);
  Lane& lane = call.table.state().lane(plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const HostIndices indices(call, lane);
  const auto reading = reading_rows(call.table);
  return indices.plan().nest().empty() ? TableStats{} : RingGather(call, indices, lane).prefetch();
}

}  // namespace sheaf::tables
