// SPDX-License-Identifier: MIT
//
// Rows of a table that stay on a device. The host knows which they are; kernels read them by their
// slots. Admission is by frequency: a row that misses takes the place of one that was asked for
// less often.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sheaf/table.h"

namespace sheaf::tables {

// How often rows were asked for, in a few bytes per slot: estimates that are never too low, and
// halved from time to time so that the past is forgotten.
class Frequencies {
 public:
  explicit Frequencies(int64_t slots);
  void add(int64_t row);
  int estimate(int64_t row) const;

 private:
  static constexpr int kHashes = 3;
  static constexpr uint8_t kMost = 255;
  size_t place(int64_t row, int hash) const;

  std::vector<uint8_t> counts_;
  uint64_t mask_ = 0;
  int64_t added_ = 0, most_added_ = 0;
};

class DeviceCache {
 public:
  // Device memory for `staged` rows, with `slots` rows behind them.
  DeviceCache(std::string_view device, int64_t row_bytes, int64_t staged, int64_t slots);

  int64_t row_bytes() const { return row_bytes_; }
  int64_t slots() const { return slots_; }
  int64_t staged() const { return staged_; }
  std::byte* memory() const { return memory_.data(); }
  std::byte* slot_memory(int64_t slot) const {
    return memory_.data() + (staged_ + slot) * row_bytes_;
  }

  // The slot of a row, by where it begins in the table; -1: it is not there. Counts.
  int32_t find(int64_t offset);
  // The slot that a row which was fetched is to be put into; -1: none. `surely`: in any case,
  // unless only rows are left that were admitted so since keep_apart().
  int32_t admit(int64_t offset, bool surely = false);
  // Rows that were surely admitted before may leave again.
  void keep_apart();
  // Whether the row is there; then it stays as one that was surely admitted.
  bool protect(int64_t offset);
  // Slot `slot` holds the row from now on, and for good.
  void keep(int64_t offset, int32_t slot);
  // Whether the row was there, and is not any more.
  bool drop(int64_t offset);
  void clear();

  // Of the rows, and how often all were forgotten before they came.
  uint64_t version = 0, forgotten = 0;
  bool is_static = false;  // nothing is admitted

 private:
  int32_t victim(bool surely);

  int64_t row_bytes_, staged_, slots_;
  DeviceMemory memory_;
  Frequencies frequencies_;
  std::unordered_map<int64_t, int32_t> slot_of_;
  std::vector<int64_t> offset_of_;  // of each slot that was ever taken
  std::vector<int32_t> free_;       // those of them that were dropped
  int64_t hand_ = 0;
  std::vector<uint32_t> surely_;  // of each slot: the round that it was surely admitted in
  uint32_t round_ = 0;
};

}  // namespace sheaf::tables
