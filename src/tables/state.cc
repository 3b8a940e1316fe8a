// SPDX-License-Identifier: MIT
#include "tables/state.h"

#include "io/source.h"
#include "plan/refuse.h"
#include "tables/lockable_memory.h"

namespace sheaf {
namespace {

TableState::LaneKey key_of(const Backend& device, const Queue& queue) {
  return {std::string(device.name), device.device->current(), queue.stream};
}

// Memory that tables have locked for a device, and how many of them.
struct LockedMemory {
  struct Range {
    int64_t users = 0, bytes = 0;
  };
  using Key = std::pair<const Backend*, const void*>;
  std::mutex mutex;
  std::map<Key, Range> ranges;
  int64_t bytes = 0;  // of all
};

LockedMemory& locked_memory() {
  static LockedMemory all;
  return all;
}

bool lock_memory(const Backend& device, const void* memory, int64_t bytes) {
  LockedMemory& all = locked_memory();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.ranges.find({&device, memory}); known != all.ranges.end()) {
    ++known->second.users;
    return true;
  }
  const bool fits = bytes <= tables::lockable_bytes() - all.bytes;
  const LockedMemory::Range first{.users = 1, .bytes = bytes};
  std::map<LockedMemory::Key, LockedMemory::Range> noted{{{&device, memory}, first}};
  if (!fits || !device.device->staging->lock(memory, static_cast<size_t>(bytes))) {
    return false;
  }
  all.ranges.merge(noted);  // takes no memory: what is locked is noted
  all.bytes += bytes;
  return true;
}

void unlock_memory(const Backend& device, const void* memory) {
  LockedMemory& all = locked_memory();
  const std::lock_guard lock(all.mutex);
  const auto entry = all.ranges.find({&device, memory});
  if (--entry->second.users == 0) {
    device.device->staging->unlock(memory);
    all.bytes -= entry->second.bytes;
    all.ranges.erase(entry);
  }
}

}  // namespace

TableState::~TableState() {
  if (process != 0 && process != getpid()) {
    for (auto& [key, lane] : lanes) {
      static_cast<void>(lane.release());  // of a device that this process never opened
    }
    return;
  }
  lanes.clear();  // they wait for the device, which may read the locked memory
  for (const auto& [name, mine] : locked) {
    if (mine.memory != nullptr) {
      unlock_memory(*mine.device, mine.memory);
    }
  }
}

tables::Lane& TableState::lane(const Plan& plan, const Backend& device, const Queue& queue) {
  const std::lock_guard lock(mutex);
  if (process != 0 && process != getpid()) {
    refuse_as(ErrorCode::kDevice, plan.request(), {Reason::kMemory}, "used after a fork",
              "the table has memory of a device that another process opened",
              "opening the table in the process that uses it");
  }
  process = getpid();
  LaneKey key = key_of(device, queue);
  const auto found = lanes.find(key);
  if (found != lanes.end()) {
    return *found->second;
  }
  auto made = std::make_unique<tables::Lane>(device, queue.stream);  // or there would be a null one
  return *lanes.emplace(std::move(key), std::move(made)).first->second;
}

tables::Lane* TableState::known_lane(const Backend& device, const Queue& queue) {
  const std::lock_guard lock(mutex);
  const auto found = lanes.find(key_of(device, queue));
  return found == lanes.end() ? nullptr : found->second.get();
}

std::optional<const void*> TableState::seen_by_device(const Table& table, const Backend& device) {
  const StagingSteps* const steps = device.device->staging;
  const std::byte* const memory = table.source()->host_bytes();
  if (steps == nullptr || steps->lock == nullptr) {
    return std::nullopt;
  }
  if (table.info().bytes == 0) {
    return memory;  // nobody reads it
  }
  const std::lock_guard lock(mutex);
  if (options.lock) {
    Locked& mine = locked[std::string(device.name)];  // first: what is locked has to be noted
    if (mine.device == nullptr) {
      mine.memory = lock_memory(device, memory, table.info().bytes) ? memory : nullptr;
      mine.device = &device;
      process = getpid();
    }
  }
  const void* const seen = steps->seen_by_device(memory);
  return seen == nullptr ? std::nullopt : std::optional(seen);
}

void TableState::add(const TableStats& call) {
  const std::lock_guard lock(mutex);
  totals.calls += call.calls;
  totals.rows += call.rows;
  totals.rows_fetched += call.rows_fetched;
  totals.bytes_to_device += call.bytes_to_device;
  totals.cache_hits += call.cache_hits;
  totals.cache_misses += call.cache_misses;
  totals.pieces += call.pieces;
  if (!call.way.empty()) {
    totals.way = call.way;
  }
  totals.rows_prefetched += call.rows_prefetched;
  totals.rows_scattered += call.rows_scattered;
  totals.bytes_to_host += call.bytes_to_host;
}

}  // namespace sheaf
