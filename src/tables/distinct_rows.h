// SPDX-License-Identifier: MIT
//
// Which rows of a piece are the same: each is fetched once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sheaf::tables {

// Numbers rows by where they begin in the table. Keeps its memory from one piece to the next.
class DistinctRows {
 public:
  void clear(int64_t most_rows);

  // The number of the row at `offset`; rows are numbered as they are first met.
  int32_t number_of(int64_t offset);

  std::span<const int64_t> offsets() const { return offsets_; }  // of each number

 private:
  std::vector<int64_t> offsets_;
  std::vector<int32_t> slots_;  // open addressing: numbers, or kFree; a power of two
  uint64_t mask_ = 0;
};

}  // namespace sheaf::tables
