// SPDX-License-Identifier: MIT
//
// The entries of a bag: which each bag has, and the row that each names.
#pragma once

#include "plan/bag.h"
#include "plan/resolve.h"
#include "support/checked.h"

namespace sheaf {

struct EntryRange {
  int64_t begin, end;
};

// The entries of bag s. `offsets`: as in BagBuffers.
inline EntryRange entries_of(const BagNest& nest, const int64_t* offsets, int64_t s) {
  return nest.per_bag >= 0 ? EntryRange{s * nest.per_bag, (s + 1) * nest.per_bag}
                           : EntryRange{offsets[s], offsets[s + 1]};
}

// What an entry names: a row, or one of these.
inline constexpr int64_t kLeftOut = -2;  // by padding_index, or out of range under kSkip

template <class Index>
class EntryReader {
 public:
  EntryReader(const BagNest& nest, const std::byte* indices)
      : nest_(nest), indices_(indices), linear_(is_linear(nest)) {}

  // The row of entry p; kLeftOut, or kOutside under kFill and kFail. Reads the index once.
  int64_t row(int64_t p) const {
    if (!nest_.indexed) {
      return p;
    }
    const int64_t at = linear_ ? p * nest_.indices.inner : nest_.indices.at(p);
    const auto value = load_index<Index>(indices_, at);
    int64_t row = widen(value);
    if (static_cast<uint64_t>(row) >= static_cast<uint64_t>(nest_.extent)) {
      row = nest_.extent == 0 ? kOutside
                              : resolve(value, nest_.extent, nest_.negative, nest_.out_of_range);
      if (row == kOutside && nest_.out_of_range == OutOfRange::kSkip) {
        return kLeftOut;
      }
    }
    return row == nest_.padding && row >= 0 ? kLeftOut : row;
  }

 private:
  // Whether entries are at one distance: a list, or a matrix whose rows follow one another.
  static bool is_linear(const BagNest& nest) {
    const EntryPlaces& places = nest.indices;
    return places.columns >= nest.entries ||
           checked_mul(places.columns, places.inner) == places.outer;
  }

  const BagNest& nest_;
  const std::byte* indices_;
  bool linear_;
};

}  // namespace sheaf
