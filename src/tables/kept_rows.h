// SPDX-License-Identifier: MIT
//
// Rows of a table that stay on a device, in slots. The device looks them up where it has kernels
// for that, elsewhere the host does. Admission is by frequency: a row that is missed takes an empty
// slot of its set, or wears down the row of the set that was asked for least until it can take that
// row's slot. Calls look up all of their rows first, and claim slots for those that they missed
// after; in between nothing changes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "execution/backend.h"
#include "execution/cache_sets.h"
#include "sheaf/table.h"

namespace sheaf::tables {

class Lane;

// The rows of a gather, in one of two forms.
struct AskedRows {
  int64_t count = 0;
  int threads = 0;  // of the host that may look them up; 0: as many as pay
  // On the host: where each begins in the table, or kOutside.
  std::span<const int64_t> offsets = {};
  // On the device, if not null: indices side by side, of rows of the table.
  const void* indices = nullptr;
  DType index_type = {};
  Negative negative = Negative::kFromEnd;
  OutOfRange out_of_range = OutOfRange::kFail;  // kTrust counts as kFail
  int64_t extent = 0;
};

// What was found. Valid until the next call of the lane.
struct FoundRows {
  const int32_t* slots = nullptr;          // on the device, of each index: its slot, or kNoSlot
  std::span<const int64_t> missed_rows;    // on the host
  std::span<const int32_t> missed_points;  // which index asked for each of them
  int64_t hits = 0;
  int64_t bad = 0;  // indices that are refused; then nothing else is of use
};

class KeptRows {
 public:
  // Of a table with `rows` rows. `given`: these rows, and no others, in slots of that order.
  static std::unique_ptr<KeptRows> make(const Backend& device, int64_t row_bytes, int64_t rows,
                                        int64_t slots, std::span<const int64_t> given);
  virtual ~KeptRows() = default;

  int64_t slots() const { return slots_; }
  int64_t row_bytes() const { return row_bytes_; }
  bool holds_given_rows() const { return given_; }
  bool is_given(int64_t row) const;
  std::byte* memory() const { return memory_.data(); }

  // `protect`: rows that are found keep their slots in this round.
  virtual FoundRows find(Lane& lane, const AskedRows& asked, bool protect) = 0;

  // Slots for rows that were fetched. First, on the host, by any thread: writes kClaimBytes of each
  // row to `here`, which travel to the device. Then, enqueued: the slots, on the device, kNoSlot
  // for rows that are not admitted. `surely`: whatever their frequency, but not in place of one
  // another.
  static constexpr int64_t kClaimBytes = 16;
  virtual void claim(std::span<const int64_t> rows, bool surely, std::byte* here) = 0;
  virtual const int32_t* claimed(Lane& lane, std::byte* there, int64_t count, bool surely) = 0;

  virtual void drop(Lane& lane, std::span<const int64_t> rows) = 0;
  virtual void clear(Lane& lane) = 0;
  // Claims of one round do not take slots from one another.
  void begin_round() { ++round_; }

  // Of the rows, and how often all were forgotten before they came.
  uint64_t version = 0, forgotten = 0;

 protected:
  struct Places {
    int64_t sets = 0;
    int32_t ways = 0;
    bool all_fit = false;
    int64_t count() const { return sets * ways; }
  };
  KeptRows(const Backend& device, int64_t row_bytes, const Places& places,
           std::span<const int64_t> given);

  // Of given rows: where each is, and in which slot.
  void place_given(std::span<int64_t> rows, std::span<int32_t> slot_of) const;

  const Places places_;
  const bool given_;
  const std::vector<int64_t> given_rows_;  // in order of slots
  std::vector<int64_t> sorted_;            // the same
  int64_t row_bytes_, slots_;
  DeviceMemory memory_;
  uint32_t round_ = 0;
};

}  // namespace sheaf::tables
