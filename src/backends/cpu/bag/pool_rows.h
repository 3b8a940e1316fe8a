// SPDX-License-Identifier: MIT
//
// Rows that are decoded, weighted and joined in f32: the innermost work of a bag, compiled once for
// each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/bag.h"

namespace sheaf::cpu {

// Some rows of one bag, in the order in which they are joined.
struct PoolRows {
  const std::byte* table;
  const int64_t* rows;   // byte offsets into the table
  const float* weights;  // one per row; null: none
  int64_t count;
  int64_t ahead;       // rows behind these whose offsets are known: they are prefetched
  int64_t row_bytes;   // of a whole row in memory
  int64_t elements;    // of a whole row
  int64_t begin, end;  // the elements that are joined
  float* joined;       // [elements]; read first where the bag has rows already
  bool starts;         // it has none
};
using JoinRows = void (*)(const PoolRows& rows);

// The routine for the best instruction set of this machine; null where there is none for such rows:
// there are some for plain f32, f16 and bf16, and for the encodings that have scales in their rows.
JoinRows joiner_for(const BagNest& nest);

// joined[0, count) over the number of rows, or its root, as pooled() has it; each NaN becomes the
// one.
void finish_floats(Pool pool, int64_t rows, float* joined, int64_t count);
// The same numbers, rounded to f16 or bf16.
void narrow_floats(DType type, const float* from, std::byte* to, int64_t count);

}  // namespace sheaf::cpu
