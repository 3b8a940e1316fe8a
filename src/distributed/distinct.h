// SPDX-License-Identifier: MIT
//
// The distinct cells of a batch of tuples, sorted by owner. Each row then crosses the wire once per
// pair of ranks, and is copied to every tuple that names it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/places.h"
#include "sheaf/sharded.h"

namespace sheaf::distributed {

class DistinctCells {
 public:
  // For batches of up to `max_tuples`, fewer than 2^31; all memory is taken here.
  DistinctCells(const sharded::Split& split, int64_t inner, int64_t max_tuples);
  static constexpr int64_t kBytesPerTuple = 104;  // bound of what the constructor allocates

  // Reads cells [0, count), kNoCell among them.
  void assign(const int64_t* cells, int64_t count);

  // Distinct cells of rank `owner`: numbers [begin(owner), begin(owner + 1)).
  int64_t begin(int owner) const { return begins_[static_cast<size_t>(owner)]; }
  // Their numbers within the owner's part.
  const int64_t* local_cells() const { return local_.data(); }
  // Tuples of distinct cell `number`: the first, then next_tuple() until it is negative.
  int32_t first_tuple(int64_t number) const { return first_[static_cast<size_t>(number)]; }
  int32_t next_tuple(int32_t tuple) const { return next_[static_cast<size_t>(tuple)]; }

 private:
  void start(int64_t count);
  void add(int32_t tuple, int64_t cell);
  void sort_by_owner();

  struct Slot {  // key and value in one cache line
    int64_t cell;
    int32_t last;  // tuple that had this cell
  };

  Places places_;
  int64_t inner_;
  uint64_t mask_;
  std::vector<Slot> table_;        // open addressing, at most half full
  std::vector<int32_t> distinct_;  // first tuples, in order
  std::vector<int32_t> owners_;
  std::vector<int64_t> locals_;
  std::vector<int64_t> begins_, local_;
  std::vector<int32_t> first_, next_;
};

}  // namespace sheaf::distributed
