// SPDX-License-Identifier: MIT
//
// Rows that are decoded, weighted and joined in f32: the innermost work of a bag, compiled once for
// each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/bag.h"

namespace sheaf::cpu {

// How far ahead of the row that is joined rows are asked for, at most.
inline constexpr int64_t kMostAhead = 32;

// The number of a row, at any address.
using LooseRow [[gnu::aligned(1), gnu::may_alias]] = int64_t;
using LooseFloat [[gnu::aligned(1), gnu::may_alias]] = float;

// Some bags one after another. Bag i has the rows offsets[i] .. offsets[i + 1], in the order in
// which they are joined.
struct BagBlock {
  const std::byte* table;
  int64_t extent, row_stride;
  // Their numbers, which may be a caller's indices: each that is read is compared with the extent.
  // Behind the last, kMostAhead more can be read, which need not be rows.
  const LooseRow* rows;
  const LooseFloat* weights;  // one per row; without weights they are 1 for products, else not read
  const int64_t* offsets;
  int64_t bags;
  int64_t before;      // rows of the first bag in earlier blocks
  bool ends;           // no later block has rows of the last bag
  int64_t elements;    // of a whole row
  int64_t begin, end;  // the elements that are joined
  Pool pool;
  DType output_type;   // f32, f16 or bf16
  std::byte* output;   // of the first bag
  int64_t bag_stride;  // from the output of one bag to the next, in bytes
  float* sums;         // [elements], of the bag at hand; null: they are its output
};
// Leaves bags that have no rows at all as they are. Returns how many bags are pooled: all, or those
// before one with a row that is not in the table, of which nothing is written (unless the numbers
// change meanwhile).
using PoolBlock = int64_t (*)(const BagBlock& block);

// The routine for the best instruction set of this machine; null where there is none for such rows:
// there are some for plain f32, f16 and bf16, and for the encodings that have scales in their rows.
PoolBlock pooler_for(const BagNest& nest);

// The same numbers, rounded to f16 or bf16.
void narrow_floats(DType type, const float* from, std::byte* to, int64_t count);

}  // namespace sheaf::cpu
