// SPDX-License-Identifier: MIT
//
// Which rows of a table are kept, and in which slots: sets of a few slots each, of which a row has
// one. The same few lines look rows up on the host and in kernels.
//
//          set of row 4711         ┌──────┬──────┬──────┬──────┐
//   4711 ───────────────────►  rows  │  17  │ 4711 │  -1  │ 902  │   slot = place in `rows`,
//                              uses  │   3  │  15  │      │   1  │   or slot_of[place]
//                                    └──────┴──────┴──────┴──────┘
#pragma once

#include <cstddef>
#include <cstdint>

#include "sheaf/dtype.h"
#include "sheaf/index_rule.h"

namespace sheaf {

struct CacheSets {
  int64_t* rows = nullptr;     // of each place: the row that is there, or kNoCachedRow
  uint32_t* uses = nullptr;    // how often it was asked for, up to kMostUses
  uint32_t* taken = nullptr;   // the round in which the place was last taken
  int32_t* slot_of = nullptr;  // of each place, where rows are given; null: its own number
  int64_t sets = 0;
  int32_t ways = 0;      // places of a set
  bool all_fit = false;  // no two rows compete: sets follow from numbers of rows
};

inline constexpr int64_t kNoCachedRow = -1;
inline constexpr int32_t kNoSlot = -1;
// A row that is asked for all the time stays at it: nobody writes to its count any more.
inline constexpr uint32_t kMostUses = 15;

constexpr int64_t first_place(const CacheSets& cache, int64_t row) {
  auto mixed = static_cast<uint64_t>(row);
  if (!cache.all_fit) {
    mixed *= 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 32) * 0xbf58476d1ce4e5b9u;
    mixed ^= mixed >> 32;
  }
  return static_cast<int64_t>(mixed % static_cast<uint64_t>(cache.sets)) * cache.ways;
}

// The place of a row, or -1.
constexpr int64_t place_of(const CacheSets& cache, int64_t row) {
  const int64_t first = first_place(cache, row);
  for (int64_t place = first; place < first + cache.ways; ++place) {
    if (cache.rows[place] == row) {
      return place;
    }
  }
  return -1;
}

constexpr int32_t slot_at(const CacheSets& cache, int64_t place) {
  return cache.slot_of == nullptr ? static_cast<int32_t>(place) : cache.slot_of[place];
}

// What a device that looks rows up by itself does. Everything is in its memory, and is enqueued.
struct CacheLookUp {
  const std::byte* indices;  // side by side
  Kind index_kind;
  Negative negative;
  OutOfRange out_of_range;  // kFail: indices that name no row are counted in `bad`
  int64_t extent;           // rows of the table
  int64_t count;            // of the indices, below 2^31
  bool protect;             // rows that are found stay in this round
  uint32_t round;
  int32_t* slots;        // of each index: its slot, or kNoSlot
  int64_t* missed_rows;  // in any order, with the numbers of their indices
  int32_t* missed_points;
  struct Counts {
    uint64_t missed, outside, bad;
  };
  Counts* counts;  // zero before
};
struct CacheClaims {
  const int64_t* rows;
  int64_t count;
  bool surely;
  uint32_t round;
  int32_t* slots;  // of each row: the slot that is its own from now on, or kNoSlot
};
struct CacheSteps {
  void (*find)(const CacheSets& cache, const CacheLookUp& look_up, void* stream);
  void (*claim)(const CacheSets& cache, const CacheClaims& claims, void* stream);
  void (*drop)(const CacheSets& cache, const int64_t* rows, int64_t count, void* stream);
};

}  // namespace sheaf
