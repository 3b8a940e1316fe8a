// SPDX-License-Identifier: MIT
//
// The parts of the cpu backend's scatter. Every kernel reduces the updates of one element in the
// order of the nest: what threads share is the data, never an element of it.
#pragma once

#include "backends/cpu/points.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/routines.h"
#include "execution/backend.h"

namespace sheaf::cpu {

inline constexpr int64_t kSkipRow = kFillRow;  // where resolve() has no place for an update

// The updates of runs, one block after the other, on one thread.
class RunReducer {
 public:
  // Reduces bytes [first, first + bytes) of each row.
  RunReducer(const Nest& nest, const ScatterBuffers& buffers, int64_t prefetch_rows, int64_t first,
             int64_t bytes, bool check);

  // `count` points along the innermost loop, from `start` on. False if it checks (under kFail) and
  // met a bad index.
  bool reduce(Place start, int64_t count);

  // The indices and updates of a short run that comes next, asked for while this one is reduced.
  void ask_for(const Place& start, int64_t count) const;

 private:
  void leave_out_skipped(RowReduction& rows);

  const Nest& nest_;
  const ScatterBuffers& buffers_;
  const bool check_;
  const Routines& routines_;
  ReduceRows reduce_;
  RowReduction rows_;
  alignas(64) int64_t to_[kBlock];
  alignas(64) int64_t from_[kBlock];  // where some updates are left out
};

// How far ahead to ask for rows that are spread over `bytes` of data.
int64_t rows_ahead(const Nest& nest, int64_t bytes);

// Parts of data that no two points of the nest share but by its grid loops: each thread takes parts
// of its own and goes through all the updates for them.
bool scatter_parts(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// Updates sorted by where they go, a segment at a time: each thread takes ranges of data of its
// own.
bool scatter_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t sorting_bytes(const Nest& nest, int threads);

// All points in order, on one thread.
bool scatter_in_order(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// The narrowest piece of a row, in bytes, that is worth a pass over the indices of its own.
inline constexpr int64_t kLeastColumns = 512;

// scatter.cc: who takes which nest.
const char* parts_refusal(const KernelQuery& query);
const char* sorted_refusal(const KernelQuery& query);
const char* in_order_refusal(const KernelQuery& query);

// First that accepts wins.
extern const ScatterKernel kScatterKernels[4];

// Backend::copy
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);

}  // namespace sheaf::cpu
