// SPDX-License-Identifier: MIT
//
// The innermost work, compiled once for each instruction set. Everything above it is plain C++.
//
// A gather is done in two steps on blocks of at most kBlock points: index values become byte
// offsets into data (all the rules are in that step), then rows are moved from those offsets (all
// the speed is in that one). The offsets of a block fit in the first-level cache. Narrow rows are
// moved straight from index values where the rule is simple.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/machine.h"
#include "backends/cpu/short_runs.h"
#include "sheaf/plan.h"

namespace sheaf::cpu {

// Rows that are streamed straight from indices are of whole pieces of this many bytes.
inline constexpr int64_t kStreamPiece = 16;

// Runs that follow one another, and how far apart they are.
struct RunSteps {
  int64_t count = 1;
  int64_t index = 0;             // in elements
  int64_t data = 0, output = 0;  // in bytes
};

// A run of points along the innermost loop.
struct IndexRun {
  const std::byte* indices;  // the first point's first component
  int64_t stride;            // index elements from point to point
  int64_t count;             // at most kBlock; for a MoveDirect, Processor::direct_block
  int64_t data_step;         // bytes that data moves from point to point, apart from the index
  bool check = false;        // under kFail: report bad indices
  const int32_t* places = nullptr;  // where data is at each point instead, as places_in_runs() says
  RunSteps steps = {};              // MoveDirect: as many runs as this
};

// Memory that is needed next, prefetched a share at a time while rows are moved.
struct Ahead {
  const std::byte* begin;
  int64_t bytes;  // 0: nothing
};

// Where rows come from and go to.
struct RowMove {
  const std::byte* data;
  const int64_t* offsets;
  int64_t count;
  std::byte* output;
  int64_t output_step;
  int64_t row_bytes;
  int64_t prefetch_rows;  // how far ahead of its use a row is prefetched; 0: rows are in cache
  Ahead next_indices, next_data;
  bool indices_go_on;  // past these: a direct move may prefetch them
  bool output_far;     // not in cache: a direct move may prefetch its lines
  bool stream;         // write around the cache; rows are side by side, and the caller flushes
};

// To the next run.
inline void advance(RowMove& rows, const RunSteps& steps, int64_t index_bytes) {
  rows.data += steps.data;
  rows.output += steps.output;
  if (rows.next_indices.bytes != 0) {
    rows.next_indices.begin += steps.index * index_bytes;
  }
  if (rows.next_data.bytes != 0) {
    rows.next_data.begin += steps.data;
  }
}

// The ways to move rows. movers.cc says which nests each of them takes.
//
// From offsets, none of which is kFillRow.
using MoveRows = void (*)(const RowMove& rows);
// From offsets in 32 bits; ignores rows.offsets.
using MoveShort = void (*)(const RowMove& rows, const int32_t* offsets);
// From indices, as `resolve` and a MoveRows would; ignores rows.offsets. Goes through run.steps,
// each of run.count points. The result is that of `resolve`.
using MoveDirect = bool (*)(const Nest& nest, const IndexRun& run, const RowMove& rows);

struct Routines {
  // True if all components of `points` tuples are in range.
  bool (*check)(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points);
  // offsets[i] = Σ_c rule(index) · stride + i · data_step, or kFillRow (under kFill and kSkip).
  // Under kFail a bad index is clamped, and the result is false if run.check is set.
  bool (*resolve)(const Nest& nest, const IndexRun& run, int64_t* offsets);
  // Null where the instruction set has nothing for it.
  MoveRows copy, gather, stream, stream_staged, in_turn;
  MoveShort from_short;
  MoveDirect copy_direct, gather_direct, stream_direct;
};

inline constexpr int64_t kFillRow = INT64_MIN;  // an offset that stands for "nowhere"

// The routines for the best instruction set of this machine.
const Routines& routines();

}  // namespace sheaf::cpu
