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

// Whether elements of entries are at one distance: a list, or a matrix whose rows follow one
// another.
inline bool is_linear(const EntryPlaces& places, int64_t entries) {
  return places.columns >= entries || checked_mul(places.columns, places.inner) == places.outer;
}

// Whether they are side by side.
inline bool is_packed(const EntryPlaces& places, int64_t entries) {
  return places.columns == 1 ? places.outer == 1 || entries == 1
                             : places.inner == 1 && is_linear(places, entries);
}

// Holds what it needs of the nest by value: a loop that also writes keeps a copy in registers.
template <class Index>
class EntryReader {
 public:
  EntryReader(const BagNest& nest, const std::byte* indices)
      : indices_(indices),
        places_(nest.indices),
        extent_(nest.extent),
        padding_(nest.padding),
        negative_(nest.negative),
        out_of_range_(nest.out_of_range),
        indexed_(nest.indexed),
        linear_(is_linear(nest.indices, nest.entries)),
        packed_(indexed_ && is_packed(nest.indices, nest.entries)) {}

  // The row of entry p; kLeftOut, or kOutside under kFill and kFail. Reads the index once.
  int64_t row(int64_t p) const {
    if (!indexed_) {
      return p;
    }
    const auto value = load_index<Index>(indices_, linear_ ? p * places_.inner : places_.at(p));
    int64_t row = widen(value);
    if (static_cast<uint64_t>(row) >= static_cast<uint64_t>(extent_)) {
      row = extent_ == 0 ? kOutside : resolve(value, extent_, negative_, out_of_range_);
      if (row == kOutside && out_of_range_ == OutOfRange::kSkip) {
        return kLeftOut;
      }
    }
    return row == padding_ && row >= 0 ? kLeftOut : row;
  }

  // Writes the rows of the entries from p on until one is not simply the row that it says: how many
  // are written. None where entries are not side by side.
  int64_t simple_rows(int64_t p, int64_t until, int64_t* to) const {
    const int64_t count = packed_ ? until - p : 0;
    const auto extent = static_cast<uint64_t>(extent_);
    const int64_t padding = padding_;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = widen(load_index<Index>(indices_, p + i));
      if (static_cast<uint64_t>(row) >= extent || row == padding) {
        return i;
      }
      to[i] = row;
    }
    return count;
  }

 private:
  const std::byte* indices_;
  EntryPlaces places_;
  int64_t extent_, padding_;
  Negative negative_;
  OutOfRange out_of_range_;
  bool indexed_, linear_, packed_;
};

}  // namespace sheaf
