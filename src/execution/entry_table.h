// SPDX-License-Identifier: MIT
//
// What segments and indices of a bag say, read once into memory of our own, and the entries sorted
// by the row that they name: what gradients are made from.
#pragma once

#include <memory>

#include "execution/bag_entries.h"
#include "plan/bag_gradient.h"
#include "sheaf/queue.h"

namespace sheaf {

// A list of a length that its owner knows.
class Numbers {
 public:
  Numbers(std::unique_ptr<int64_t[]> numbers = nullptr) : numbers_(std::move(numbers)) {}
  int64_t& operator[](int64_t i) { return numbers_.get()[i]; }
  int64_t operator[](int64_t i) const { return numbers_.get()[i]; }
  int64_t* get() { return numbers_.get(); }
  const int64_t* get() const { return numbers_.get(); }

 private:
  std::unique_ptr<int64_t[]> numbers_;
};

struct EntryTable {
  explicit EntryTable(BagPlan plan) : bag(std::move(plan)) {}

  BagPlan bag;
  Numbers offsets;  // [bags + 1]; null where every bag has per_bag entries
  Numbers row_of;   // [entries]: a row, kLeftOut, or kOutside for a row of the fill value
  Numbers bag_of;   // [entries]; -1: in none
  Numbers counts;   // [bags]: entries that are not left out
  // By row; not made for the gradient of weights.
  bool sorted = false;
  int64_t kept = 0;      // entries that name a row
  int64_t distinct = 0;  // rows
  Numbers order;         // [kept]: their numbers, by row
  Numbers rows;          // [distinct], ascending
  Numbers begins;        // [distinct + 1]: where the entries of each row begin in `order`
};

// Throws kOutOfMemory in the name of `request` if there is none.
Numbers new_numbers(const BagRequest& request, int64_t count);
[[noreturn]] void refuse_gradient_memory(const BagRequest& request);

std::shared_ptr<const EntryTable> read_entries(const BagGradientPlan& plan, const BagMemory& memory,
                                               const Queue& queue);

// Where the entries of each row of the table begin in `order`: [extent + 1].
Numbers begins_of_all_rows(const EntryTable& table, const BagRequest& request);

}  // namespace sheaf
