// SPDX-License-Identifier: MIT
#include "tables/written_rows.h"

#include <new>

namespace sheaf::tables {

uint64_t WrittenRows::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void WrittenRows::watch() {
  const std::lock_guard lock(mutex_);
  watched_ = true;
}

bool WrittenRows::watched() const {
  const std::lock_guard lock(mutex_);
  return watched_;
}

void WrittenRows::add(std::optional<std::vector<int64_t>> rows) {
  const std::lock_guard lock(mutex_);
  ++version_;
  if (!rows) {
    writes_.clear();
    return;
  }
  try {
    writes_.push_back(std::move(*rows));
  } catch (const std::bad_alloc&) {
    writes_.clear();
  }
  if (writes_.size() > kMostWrites) {
    writes_.pop_front();
  }
}

std::optional<std::vector<int64_t>> WrittenRows::since(uint64_t version) const {
  const std::lock_guard lock(mutex_);
  const uint64_t missed = version_ - version;
  if (missed > writes_.size()) {
    return std::nullopt;
  }
  std::vector<int64_t> rows;
  for (size_t i = writes_.size() - missed; i < writes_.size(); ++i) {
    rows.insert(rows.end(), writes_[i].begin(), writes_[i].end());
  }
  return rows;
}

}  // namespace sheaf::tables
