// SPDX-License-Identifier: MIT
#include "tables/device_kept_rows.h"

#include <algorithm>
#include <cstring>

#include "plan/resolve.h"
#include "tables/lane.h"

namespace sheaf::tables {
namespace {

constexpr int64_t kLookUpAlignment = 256;

constexpr int64_t aligned_part(int64_t bytes) {
  return (bytes + kLookUpAlignment - 1) / kLookUpAlignment * kLookUpAlignment;
}

}  // namespace

DeviceKeptRows::DeviceKeptRows(const Backend& device, int64_t row_bytes, const Places& places,
                               std::span<const int64_t> given)
    : KeptRows(device, row_bytes, places, given),
      steps_(*device.device->staging->cache),
      rows_(device.name, static_cast<size_t>(places.count()) * sizeof(int64_t)),
      uses_(device.name, static_cast<size_t>(places.count()) * sizeof(uint32_t)),
      taken_(device.name, static_cast<size_t>(places.count()) * sizeof(uint32_t)),
      slot_of_(device.name,
               given.empty() ? 0 : static_cast<size_t>(places.count()) * sizeof(int32_t)) {
  view_ = {.rows = reinterpret_cast<int64_t*>(rows_.data()),
           .uses = reinterpret_cast<uint32_t*>(uses_.data()),
           .taken = reinterpret_cast<uint32_t*>(taken_.data()),
           .slot_of = reinterpret_cast<int32_t*>(slot_of_.data()),
           .sets = places.sets,
           .ways = places.ways,
           .all_fit = places.all_fit};
}

void DeviceKeptRows::clear(Lane& lane) {
  lane.wait_for_stream();
  uses_.fill(std::byte{0}, uses_.bytes());
  taken_.fill(std::byte{0}, taken_.bytes());
  if (!holds_given_rows()) {
    rows_.fill(std::byte{0xFF}, rows_.bytes());  // kNoCachedRow
    return;
  }
  std::vector<int64_t> rows(static_cast<size_t>(places_.count()));
  std::vector<int32_t> slots(rows.size());
  place_given(rows, slots);
  rows_.upload(rows.data(), rows_.bytes());
  slot_of_.upload(slots.data(), slot_of_.bytes());
}

// Parts of one piece of memory: counts, missed rows, slots, missed points, and indices that come
// from the host.
CacheLookUp DeviceKeptRows::look_up_in(Lane& lane, const AskedRows& asked) {
  const int64_t rows_at = kLookUpAlignment;
  const int64_t slots_at = rows_at + aligned_part(asked.count * 8);
  const int64_t points_at = slots_at + aligned_part(asked.count * 4);
  const int64_t offsets_at = points_at + aligned_part(asked.count * 4);
  std::byte* const memory =
      lane.numbers(offsets_at + (asked.indices == nullptr ? asked.count * 8 : 0));
  CacheLookUp look_up{.indices = static_cast<const std::byte*>(asked.indices),
                      .index_kind = asked.index_type.kind(),
                      .negative = asked.negative,
                      .out_of_range = asked.out_of_range == OutOfRange::kTrust ? OutOfRange::kFail
                                                                               : asked.out_of_range,
                      .extent = asked.extent,
                      .count = asked.count,
                      .protect = false,
                      .round = round_,
                      .slots = reinterpret_cast<int32_t*>(memory + slots_at),
                      .missed_rows = reinterpret_cast<int64_t*>(memory + rows_at),
                      .missed_points = reinterpret_cast<int32_t*>(memory + points_at),
                      .counts = reinterpret_cast<CacheLookUp::Counts*>(memory)};
  if (asked.indices == nullptr) {
    lane.wait();  // what the last call left there may still be on its way
    auto* const rows = reinterpret_cast<int64_t*>(lane.found.get(asked.count * 8));
    std::ranges::transform(asked.offsets, rows, [&](int64_t offset) {
      return offset == kOutside ? kNoCachedRow : offset / row_bytes();
    });
    lane.copy_kept(memory + offsets_at, lane.found, asked.count * 8);
    look_up.indices = memory + offsets_at;
    look_up.index_kind = Kind::kInt64;
    look_up.negative = Negative::kOutOfRange;
    look_up.out_of_range = OutOfRange::kFill;
    look_up.extent = INT64_MAX;
  }
  return look_up;
}

FoundRows DeviceKeptRows::find(Lane& lane, const AskedRows& asked, bool protect) {
  CacheLookUp look_up = look_up_in(lane, asked);
  look_up.protect = protect;
  const Queue queue = lane.queue();
  lane.backend().device->zero(look_up.counts, sizeof *look_up.counts, queue.stream);
  steps_.find(view_, look_up, queue.stream);
  CacheLookUp::Counts counts{};
  std::memcpy(&counts,
              lane.download(lane.missed_points, reinterpret_cast<const std::byte*>(look_up.counts),
                            sizeof counts),
              sizeof counts);
  FoundRows found;
  found.slots = look_up.slots;
  found.bad = static_cast<int64_t>(counts.bad);
  const auto missed = static_cast<int64_t>(counts.missed);
  found.hits = asked.count - missed - static_cast<int64_t>(counts.outside);
  if (missed > 0 && found.bad == 0) {
    const auto* const rows = lane.download(
        lane.missed_rows, reinterpret_cast<const std::byte*>(look_up.missed_rows), missed * 8);
    const auto* const points = lane.download(
        lane.missed_points, reinterpret_cast<const std::byte*>(look_up.missed_points), missed * 4);
    found.missed_rows = {reinterpret_cast<const int64_t*>(rows), static_cast<size_t>(missed)};
    found.missed_points = {reinterpret_cast<const int32_t*>(points), static_cast<size_t>(missed)};
  }
  return found;
}

void DeviceKeptRows::claim(std::span<const int64_t> rows, bool /*surely*/, std::byte* here) {
  std::memcpy(here, rows.data(), rows.size_bytes());
}

// The slots stand behind the rows.
const int32_t* DeviceKeptRows::claimed(Lane& lane, std::byte* there, int64_t count, bool surely) {
  auto* const slots = reinterpret_cast<int32_t*>(there + count * 8);
  steps_.claim(view_,
               {.rows = reinterpret_cast<const int64_t*>(there),
                .count = count,
                .surely = surely,
                .round = round_,
                .slots = slots},
               lane.queue().stream);
  return slots;
}

void DeviceKeptRows::drop(Lane& lane, std::span<const int64_t> rows) {
  if (rows.empty()) {
    return;
  }
  lane.wait();
  std::byte* const here = lane.found.get(static_cast<int64_t>(rows.size_bytes()));
  std::memcpy(here, rows.data(), rows.size_bytes());
  const auto bytes = static_cast<int64_t>(rows.size_bytes());
  std::byte* const there = lane.numbers(bytes);
  lane.copy_kept(there, lane.found, bytes);
  steps_.drop(view_, reinterpret_cast<const int64_t*>(there), std::ssize(rows),
              lane.queue().stream);
  lane.mark();
}

}  // namespace sheaf::tables
