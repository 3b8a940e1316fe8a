// SPDX-License-Identifier: MIT
#include "distributed/distinct.h"

#include <algorithm>
#include <bit>

#include "distributed/cells.h"

namespace sheaf::distributed {
namespace {

constexpr int64_t kFree = -1;
// Far enough ahead to hide a miss of the cache, near enough to stay in it.
constexpr int64_t kPrefetchDistance = 16;

uint64_t spread(int64_t cell) {  // the finaliser of SplitMix64: neighbours land far apart
  auto x = static_cast<uint64_t>(cell);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

DistinctCells::DistinctCells(const sharded::Split& split, int64_t inner, int64_t max_tuples)
    : places_(split), inner_(inner) {
  const auto tuples = static_cast<size_t>(max_tuples);
  const size_t slots = std::bit_ceil(std::max<size_t>(2 * tuples, 16));
  mask_ = slots - 1;
  table_.resize(slots);
  distinct_.reserve(tuples);
  owners_.reserve(tuples);
  locals_.reserve(tuples);
  local_.resize(tuples);
  first_.resize(tuples);
  next_.resize(tuples);
  begins_.resize(static_cast<size_t>(split.ranks()) + 1);
}

void DistinctCells::start(int64_t count) {
  distinct_.clear();
  owners_.clear();
  locals_.clear();
  std::fill(begins_.begin(), begins_.end(), 0);
  std::fill_n(next_.begin(), count, -1);
}

void DistinctCells::add(int32_t tuple, int64_t cell) {
  const int64_t entry = inner_ == 1 ? cell : cell / inner_;
  const sharded::Split::Place place = places_.of(entry);
  distinct_.push_back(tuple);
  owners_.push_back(place.rank);
  locals_.push_back(place.local * inner_ + (cell - entry * inner_));
  ++begins_[static_cast<size_t>(place.rank) + 1];
}

void DistinctCells::sort_by_owner() {
  for (size_t r = 1; r < begins_.size(); ++r) {
    begins_[r] += begins_[r - 1];
  }
  std::vector<int64_t> ends(begins_.begin(), begins_.end() - 1);
  for (size_t u = 0; u < distinct_.size(); ++u) {
    const auto to = static_cast<size_t>(ends[static_cast<size_t>(owners_[u])]++);
    local_[to] = locals_[u];
    first_[to] = distinct_[u];
  }
}

void DistinctCells::assign(const int64_t* cells, int64_t count) {
  // Only as much of the table as this batch needs: a small one must not clear all of it.
  const size_t slots =
      std::min(std::bit_ceil(std::max<size_t>(2 * static_cast<size_t>(count), 16)), table_.size());
  mask_ = slots - 1;
  std::fill_n(table_.begin(), slots, Slot{kFree, -1});
  start(count);
  for (int64_t t = 0; t < count; ++t) {
    if (t + kPrefetchDistance < count) {
      __builtin_prefetch(&table_[spread(cells[t + kPrefetchDistance]) & mask_], 1);
    }
    if (cells[t] == kNoCell) {
      continue;
    }
    const auto tuple = static_cast<int32_t>(t);
    uint64_t at = spread(cells[t]) & mask_;
    while (table_[at].cell != kFree && table_[at].cell != cells[t]) {
      at = (at + 1) & mask_;
    }
    Slot& slot = table_[at];
    if (slot.cell == kFree) {
      slot.cell = cells[t];
      add(tuple, cells[t]);
    } else {
      next_[static_cast<size_t>(slot.last)] = tuple;
    }
    slot.last = tuple;
  }
  sort_by_owner();
}

}  // namespace sheaf::distributed
