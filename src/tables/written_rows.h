// SPDX-License-Identifier: MIT
//
// What scatters wrote to a table in memory. Tables that were made of one another share it, so that
// rows which any of them keeps on a device can follow.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace sheaf::tables {

class WrittenRows {
 public:
  // Held alone while the host writes rows, and together while it reads them.
  std::shared_mutex memory;

  // Grows with every scatter.
  uint64_t version() const;

  // Somebody keeps rows from now on: which ones are written matters.
  void watch();
  bool watched() const;

  // One more scatter: rows by where they begin in the table; nothing: they are too many to name.
  void add(std::optional<std::vector<int64_t>> rows);

  // All rows that were written after `version`; nothing if they are not known any more.
  std::optional<std::vector<int64_t>> since(uint64_t version) const;

  // The most rows of a scatter that are worth naming.
  static constexpr int64_t kMostRows = int64_t{1} << 18;

 private:
  // As many scatters are remembered.
  static constexpr size_t kMostWrites = 16;

  mutable std::mutex mutex_;
  uint64_t version_ = 0;  // of the last of writes_
  bool watched_ = false;
  std::deque<std::vector<int64_t>> writes_;
};

}  // namespace sheaf::tables
