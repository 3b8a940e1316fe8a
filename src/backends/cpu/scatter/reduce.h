// SPDX-License-Identifier: MIT
//
// Rows of updates reduced into rows of data: the innermost work of a scatter, compiled once for
// each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/reduce.h"
#include "sheaf/dtype.h"
#include "sheaf/reduction.h"

namespace sheaf::cpu {

// Updates in the order in which they are reduced.
struct RowReduction {
  std::byte* data;
  const int64_t* to;  // byte offsets into data
  const std::byte* updates;
  const int64_t* from;  // byte offsets into updates; null: every `update_step` bytes
  int64_t update_step;
  int64_t count;
  int64_t row_bytes;
  int64_t prefetch_rows;  // how far ahead of its use a row is prefetched; 0: rows are in cache
  ReduceRow reduce;       // for types without a routine
};
using ReduceRows = void (*)(const RowReduction& rows);

// Single elements straight from int64 indices side by side, clamped into [0, extent): no offset is
// stored. With places, the elements that indices count are side by side, and so are the updates.
// Ignores rows.to and rows.from.
struct DirectReduction {
  const std::byte* indices;
  int64_t from_end;  // added to negative indices
  int64_t extent, stride;
  int64_t data_step;      // bytes that data moves from one update to the next
  const int32_t* places;  // where data is at each update instead, as places_in_runs() says
  // What is prefetched, where the processor wants it.
  bool indices_go_on, updates_go_on;  // past these
  int64_t next_data;  // bytes from here to the data that is reduced next; 0: there is none
};
// True if no index was out of range.
using ReduceDirect = bool (*)(const DirectReduction& direct, const RowReduction& rows);

// The routine for the best instruction set of this machine. Rows are one element, or any number.
ReduceRows reducer_for(DType type, Reduction reduction, int64_t row_bytes);
// Null where there is none: it is for elements of 4 and 8 bytes.
ReduceDirect direct_reducer_for(DType type, Reduction reduction, int64_t row_bytes);

}  // namespace sheaf::cpu
