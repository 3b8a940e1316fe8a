// SPDX-License-Identifier: MIT
//
// The parts of the cpu backend's scatter. Every kernel reduces the updates of one element in the
// order of the nest: what threads share is the data, never an element of it.
#pragma once

#include <memory>

#include "backends/cpu/movers/routines.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/scatter/reduce.h"
#include "execution/backend.h"

namespace sheaf::cpu {

inline constexpr int64_t kSkipRow = kFillRow;  // where resolve() has no place for an update

// Which cells of data one of several threads owns: every thread goes through all updates and
// applies those of its own cells. Cells are shared out by a hash, so that updates which crowd into
// one part of data still spread over all threads.
class Share {
 public:
  Share() = default;  // all cells
  Share(const Nest& nest, int64_t owner, int64_t owners);

  bool is_all() const { return owners_ == 1; }
  bool owns(int64_t place) const {
    const auto cell = static_cast<uint32_t>(static_cast<uint64_t>(place - first_) >> shift_);
    const uint32_t hash = cell * 2654435761U;
    return (uint64_t{hash} * owners_) >> 32 == owner_;
  }

 private:
  int64_t first_ = 0;  // the least place
  int shift_ = 0;
  uint64_t owner_ = 0, owners_ = 1;
};

// The updates of runs, one block after the other, on one thread.
class RunReducer {
 public:
  // Reduces bytes [first, first + bytes) of each row.
  RunReducer(const Nest& nest, const ScatterBuffers& buffers, int64_t prefetch_rows, int64_t first,
             int64_t bytes, const Launch& launch, const Share& share = {});

  // `count` points along the innermost loop, from `start` on. False if it checks (under kFail) and
  // met a bad index. Does nothing more once the run is cancelled.
  bool reduce(Place start, int64_t count);
  // The same for `runs` whole runs, one for each step of the loop around the innermost one, that
  // are short enough to be reduced together.
  bool joins_runs() const { return places_ != nullptr; }
  bool reduce_runs(Place start, int64_t runs);
  bool cancelled() const { return cancel_.stopped(); }

  // Prefetches the indices and updates of a short run that comes next.
  void prefetch(const Place& start, int64_t count) const;

 private:
  // `done` points of the run are reduced already; `places` of data or null.
  bool reduce_rows(const Place& start, int64_t done, const int32_t* places, RowReduction rows);
  void reduce_resolved(const RowReduction& rows);
  bool reduce_direct(const std::byte* indices, int64_t done, const int32_t* places,
                     const RowReduction& rows);
  void leave_out_skipped(RowReduction& rows);
  void keep_own(RowReduction& rows, int64_t data);

  const Nest& nest_;
  const ScatterBuffers& buffers_;
  const bool check_;
  CancelPoint cancel_;
  const int64_t block_;  // points at a time
  const Routines& routines_;
  const Share share_;
  ReduceRows reduce_;
  ReduceDirect direct_;  // null: not for this nest
  RowReduction rows_;
  const int64_t runs_together_;
  const std::unique_ptr<int32_t[]> places_;  // of runs that are reduced together
  const int64_t next_row_;  // bytes from a row of data to the next one; 0: not to be prefetched
  alignas(64) int64_t to_[kBlock];
  alignas(64) int64_t from_[kBlock];  // where some updates are left out
};

// How far ahead rows are prefetched that are spread over `bytes` of data.
int64_t rows_ahead(const Nest& nest, int64_t bytes);

// Parts of data that no two points of the nest share but by its grid loops: each thread takes some
// parts and goes through all the updates for them.
bool scatter_parts(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// Each thread owns cells of data: it goes through all updates for its own, or they are sorted by
// where they go, or one thread takes them all, whatever is estimated to be fastest.
bool scatter_cells(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t scatter_cells_bytes(const Nest& nest, int threads);

// Each thread resolves all indices and applies the updates of its own cells.
bool scatter_shared(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch,
                    Threads threads);

// Updates sorted by where they go, a segment at a time: each thread takes its own ranges of
// data. The launch has a workspace of sorting_bytes().
bool scatter_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch,
                    Threads threads);
size_t sorting_bytes(const Nest& nest, int threads);

// All points in order, on one thread.
bool scatter_in_order(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// The plain loops of the reference backend.
bool scatter_plain(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// Every scatter kernel, in the order in which they are asked: cpu.scatter_NAME takes a nest if
// NAME_refusal() has none, and runs scatter_NAME(). Also how it checks indices and the bytes of its
// workspace.
#define SHEAF_CPU_SCATTER_KERNELS(X)                  \
  X(parts, Checks::kWhileMoving)                      \
  X(cells, Checks::kWhileMoving, scatter_cells_bytes) \
  X(in_order, Checks::kWhileMoving)                   \
  X(plain, Checks::kNever)

// scatter.cc
#define SHEAF_DECLARE_REFUSAL(name, ...) const char* name##_refusal(const KernelQuery& query);
SHEAF_CPU_SCATTER_KERNELS(SHEAF_DECLARE_REFUSAL)
#undef SHEAF_DECLARE_REFUSAL

// Backend::copy
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);

}  // namespace sheaf::cpu
