// SPDX-License-Identifier: MIT
#include "tables/host_kept_rows.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <type_traits>

#include "execution/host_steps.h"
#include "plan/resolve.h"
#include "tables/lane.h"

namespace sheaf::tables {
namespace {

// To look a row up costs as much as to move so many bytes.
constexpr int64_t kBytesOfALookUp = 128;

// Threads look at the same sets.
template <class T>
T load_shared(T& value) {
  return std::atomic_ref(value).load(std::memory_order_relaxed);
}
template <class T>
void store_shared(T& value, std::type_identity_t<T> to) {
  std::atomic_ref(value).store(to, std::memory_order_relaxed);
}

// Of an index that names no row. Kernels fill for it as for kNoSlot.
constexpr int32_t kOutsideSlot = -2;

}  // namespace

HostKeptRows::HostKeptRows(const Backend& device, int64_t row_bytes, const Places& places,
                           std::span<const int64_t> given)
    : KeptRows(device, row_bytes, places, given) {
  const auto count = static_cast<size_t>(places.count());
  rows_.resize(count);
  uses_.resize(count);
  taken_.resize(count);
  view_ = {.rows = rows_.data(),
           .uses = uses_.data(),
           .taken = taken_.data(),
           .slot_of = nullptr,
           .sets = places.sets,
           .ways = places.ways,
           .all_fit = places.all_fit};
  if (holds_given_rows()) {
    slot_of_.resize(count);
    view_.slot_of = slot_of_.data();
  }
}

void HostKeptRows::clear(Lane& /*lane*/) {
  std::ranges::fill(uses_, 0U);
  if (holds_given_rows()) {
    place_given(rows_, slot_of_);
  } else {
    std::ranges::fill(rows_, kNoCachedRow);
  }
}

int32_t HostKeptRows::slot_for(int64_t row, bool protect) {
  const int64_t place = place_of(view_, row);
  if (place < 0) {
    return kNoSlot;
  }
  uint32_t& uses = view_.uses[place];
  if (const uint32_t before = load_shared(uses); before < kMostUses) {
    store_shared(uses, before + 1);  // another thread's count may be lost
  }
  if (protect) {
    store_shared(view_.taken[place], round_);
  }
  return slot_at(view_, place);
}

// Rows without a slot, in the order of the indices.
FoundRows HostKeptRows::missed(Lane& lane, const AskedRows& asked,
                               std::span<const int32_t> slots) const {
  const auto count = static_cast<size_t>(std::ranges::count(slots, kNoSlot));
  const int64_t outside = std::ranges::count(slots, kOutsideSlot);
  auto* const rows = reinterpret_cast<int64_t*>(
      lane.missed_rows.get(static_cast<int64_t>(count * sizeof(int64_t))));
  auto* const points = reinterpret_cast<int32_t*>(
      lane.missed_points.get(static_cast<int64_t>(count * sizeof(int32_t))));
  size_t at = 0;
  for (size_t i = 0; i < slots.size() && at < count; ++i) {
    if (slots[i] == kNoSlot) {
      rows[at] = asked.offsets[i] / row_bytes();
      points[at++] = static_cast<int32_t>(i);
    }
  }
  FoundRows found;
  found.missed_rows = {rows, count};
  found.missed_points = {points, count};
  found.hits = asked.count - outside - static_cast<int64_t>(count);
  return found;
}

FoundRows HostKeptRows::find(Lane& lane, const AskedRows& asked, bool protect) {
  lane.wait();  // the slots of the last call may still be on their way
  const int64_t bytes = asked.count * static_cast<int64_t>(sizeof(int32_t));
  auto* const slots = reinterpret_cast<int32_t*>(lane.found.get(bytes));
  const auto look_up = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t offset = asked.offsets[static_cast<size_t>(i)];
      slots[i] = offset == kOutside ? kOutsideSlot : slot_for(offset / row_bytes(), protect);
    }
  };
  run_ranges("gather", asked.count, asked.count * kBytesOfALookUp, {.threads = asked.threads},
             std::cref(look_up));
  FoundRows found = missed(lane, asked, {slots, static_cast<size_t>(asked.count)});
  std::byte* const there = lane.numbers(bytes);
  lane.copy_kept(there, lane.found, bytes);
  found.slots = reinterpret_cast<const int32_t*>(there);
  return found;
}

// Takes an empty place of the row's set, or wears down the one that was asked for least.
int32_t HostKeptRows::claim_one(int64_t row, bool surely) {
  const int64_t first = first_place(view_, row);
  for (int tries = 0; tries < view_.ways; ++tries) {
    int64_t best = -1;
    int least = 0;
    for (int64_t place = first; place < first + view_.ways; ++place) {
      const int64_t held = load_shared(view_.rows[place]);
      if (held == row) {
        return kNoSlot;  // another thread fetched it too
      }
      const int uses = held == kNoCachedRow ? -1 : static_cast<int>(load_shared(view_.uses[place]));
      if (load_shared(view_.taken[place]) != round_ && (best < 0 || uses < least)) {
        best = place;
        least = uses;
      }
    }
    if (best < 0) {
      return kNoSlot;
    }
    if (!surely && least > 0) {
      store_shared(view_.uses[best], static_cast<uint32_t>(least - 1));
      return kNoSlot;
    }
    uint32_t before = load_shared(view_.taken[best]);
    if (before != round_ &&
        std::atomic_ref(view_.taken[best])
            .compare_exchange_strong(before, round_, std::memory_order_relaxed)) {
      store_shared(view_.rows[best], row);
      store_shared(view_.uses[best], 1);
      return static_cast<int32_t>(best);
    }
  }
  return kNoSlot;
}

void HostKeptRows::claim(std::span<const int64_t> rows, bool surely, std::byte* here) {
  auto* const slots = reinterpret_cast<int32_t*>(here);
  for (size_t i = 0; i < rows.size(); ++i) {
    slots[i] = claim_one(rows[i], surely);
  }
}

const int32_t* HostKeptRows::claimed(Lane& /*lane*/, std::byte* there, int64_t /*count*/,
                                     bool /*surely*/) {
  return reinterpret_cast<const int32_t*>(there);
}

void HostKeptRows::drop(Lane& /*lane*/, std::span<const int64_t> rows) {
  for (const int64_t row : rows) {
    for (int64_t place = place_of(view_, row); place >= 0; place = place_of(view_, row)) {
      view_.rows[place] = kNoCachedRow;
    }
  }
}

}  // namespace sheaf::tables
