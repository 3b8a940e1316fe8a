// SPDX-License-Identifier: MIT
//
// Rows that are decoded, weighted and joined in f32: the innermost work of a bag, compiled once for
// each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/bag.h"

namespace sheaf::cpu {

// How far ahead of the row that is joined rows are asked for: some 2 KiB of short ones, which is
// what covers a memory's latency.
inline constexpr int64_t kRowsAhead = 16;

// What one bag has in a block: the next `count` rows, in the order in which they are joined.
struct BagPart {
  int64_t bag;
  int64_t count;
  int64_t before;  // rows of the bag in earlier blocks
  bool ends;       // no later block has any
};

// Some bags one after another, and their rows.
struct BagBlock {
  const std::byte* table;
  const int64_t* rows;  // byte offsets into the table; behind the last, kRowsAhead more of any row
  // One per row, 1 where the bag has none; sums without weights do not read them.
  const float* weights;
  const BagPart* parts;
  int64_t part_count;
  int64_t elements;    // of a whole row
  int64_t begin, end;  // the elements that are joined
  Pool pool;
  DType output_type;  // f32, f16 or bf16
  std::byte* output;
  int64_t bag_stride;  // from the output of one bag to the next, in bytes
  float* sums;         // [elements], of the bag at hand; null: they are its output
};
using PoolBlock = void (*)(const BagBlock& block);

// The routine for the best instruction set of this machine; null where there is none for such rows:
// there are some for plain f32, f16 and bf16, and for the encodings that have scales in their rows.
// It leaves bags that have no rows at all as they are.
PoolBlock pooler_for(const BagNest& nest);

// The same numbers, rounded to f16 or bf16.
void narrow_floats(DType type, const float* from, std::byte* to, int64_t count);

}  // namespace sheaf::cpu
