// SPDX-License-Identifier: MIT
#include "tables/distinct_rows.h"

#include <algorithm>
#include <bit>

namespace sheaf::tables {
namespace {

constexpr int32_t kFree = -1;

uint64_t mixed(int64_t offset) {
  const uint64_t product = static_cast<uint64_t>(offset) * 0x9e3779b97f4a7c15u;
  return product ^ product >> 32;
}

}  // namespace

// Half of the slots stay free, so that a search is short.
void DistinctRows::clear(int64_t most_rows) {
  const uint64_t slots = std::bit_ceil(static_cast<uint64_t>(most_rows) * 2);
  slots_.assign(slots, kFree);
  mask_ = slots - 1;
  offsets_.clear();
}

int32_t DistinctRows::number_of(int64_t offset) {
  for (uint64_t at = mixed(offset) & mask_;; at = (at + 1) & mask_) {
    int32_t& slot = slots_[at];
    if (slot == kFree) {
      slot = static_cast<int32_t>(offsets_.size());
      offsets_.push_back(offset);
      return slot;
    }
    if (offsets_[static_cast<size_t>(slot)] == offset) {
      return slot;
    }
  }
}

}  // namespace sheaf::tables
