// SPDX-License-Identifier: MIT
#include "tables/device_cache.h"

#include <algorithm>
#include <bit>

namespace sheaf::tables {
namespace {

// Slots that are looked at for one to leave.
constexpr int64_t kCandidates = 8;
// Counters per slot, and rows asked for per slot until all counters are halved.
constexpr int64_t kCountersPerSlot = 8, kAskedPerSlot = 16;

uint64_t scrambled(uint64_t value) {
  value = (value ^ value >> 31) * 0xbf58476d1ce4e5b9u;
  return value ^ value >> 29;
}

}  // namespace

Frequencies::Frequencies(int64_t slots) {
  const uint64_t counters = std::bit_ceil(static_cast<uint64_t>(slots * kCountersPerSlot));
  counts_.assign(counters, 0);
  mask_ = counters - 1;
  most_added_ = slots * kAskedPerSlot;
}

size_t Frequencies::place(int64_t row, int hash) const {
  const uint64_t seed = (static_cast<uint64_t>(hash) + 1) * 0x9e3779b97f4a7c15u;
  return scrambled(static_cast<uint64_t>(row) + seed) & mask_;
}

void Frequencies::add(int64_t row) {
  const int least = estimate(row);
  for (int hash = 0; hash < kHashes && least < kMost; ++hash) {
    uint8_t& count = counts_[place(row, hash)];
    count = static_cast<uint8_t>(std::max<int>(count, least + 1));
  }
  if (++added_ == most_added_) {
    for (uint8_t& count : counts_) {
      count = static_cast<uint8_t>(count / 2);
    }
    added_ = 0;
  }
}

int Frequencies::estimate(int64_t row) const {
  int least = kMost;
  for (int hash = 0; hash < kHashes; ++hash) {
    least = std::min<int>(least, counts_[place(row, hash)]);
  }
  return least;
}

DeviceCache::DeviceCache(std::string_view device, int64_t row_bytes, int64_t staged, int64_t slots)
    : row_bytes_(row_bytes),
      staged_(staged),
      slots_(slots),
      memory_(device, static_cast<size_t>((staged + slots) * row_bytes)),
      frequencies_(slots) {}

int32_t DeviceCache::find(int64_t offset) {
  if (!is_static) {
    frequencies_.add(offset);
  }
  const auto found = slot_of_.find(offset);
  return found == slot_of_.end() ? -1 : found->second;
}

void DeviceCache::keep_apart() {
  surely_.resize(static_cast<size_t>(slots_), 0);
  ++round_;
}

bool DeviceCache::protect(int64_t offset) {
  const auto found = slot_of_.find(offset);
  if (found == slot_of_.end()) {
    return false;
  }
  surely_[static_cast<size_t>(found->second)] = round_;
  return true;
}

// Of those that were surely admitted in this round, none leaves for another of them.
int32_t DeviceCache::victim(bool surely) {
  int32_t least_used = -1;
  int least = 0;
  int64_t candidates = std::min(kCandidates, slots_);
  for (int64_t i = 0; i < slots_ && candidates > 0; ++i) {
    hand_ = hand_ + 1 == slots_ ? 0 : hand_ + 1;
    if (surely && surely_[static_cast<size_t>(hand_)] == round_) {
      continue;
    }
    --candidates;
    const int used = frequencies_.estimate(offset_of_[static_cast<size_t>(hand_)]);
    if (least_used < 0 || used < least) {
      least_used = static_cast<int32_t>(hand_);
      least = used;
    }
  }
  return least_used;
}

int32_t DeviceCache::admit(int64_t offset, bool surely) {
  if (is_static) {
    return -1;
  }
  auto slot = static_cast<int32_t>(offset_of_.size());
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
    offset_of_[static_cast<size_t>(slot)] = offset;
  } else if (slot < slots_) {
    offset_of_.push_back(offset);
  } else {
    slot = victim(surely);
    if (slot < 0) {
      return -1;
    }
    int64_t& held = offset_of_[static_cast<size_t>(slot)];
    if (!surely && frequencies_.estimate(offset) <= frequencies_.estimate(held)) {
      return -1;
    }
    slot_of_.erase(held);
    held = offset;
  }
  slot_of_.emplace(offset, slot);
  if (surely) {
    surely_[static_cast<size_t>(slot)] = round_;
  }
  return slot;
}

void DeviceCache::keep(int64_t offset, int32_t slot) { slot_of_.emplace(offset, slot); }

bool DeviceCache::drop(int64_t offset) {
  const auto found = slot_of_.find(offset);
  if (found == slot_of_.end()) {
    return false;
  }
  if (!is_static) {
    free_.push_back(found->second);
  }
  slot_of_.erase(found);
  return true;
}

void DeviceCache::clear() {
  slot_of_.clear();
  free_.clear();
  offset_of_.clear();
  hand_ = 0;
}

}  // namespace sheaf::tables
