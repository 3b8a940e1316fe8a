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

inline constexpr int64_t kBlock = 2048;

// Points of a block whose rows are moved straight from index values: no offset has to fit a cache.
// Arm64 processors write around their caches until other memory is written, which happens between
// blocks. Measured on a Neoverse V1, rows of 16 bytes from a small table: 0.84 ns each in blocks of
// 2048, 0.78 in blocks of 16384, 0.70 in these.
inline constexpr int64_t kDirectBlock = kArm64 ? int64_t{65536} : kBlock;

// Runs that follow one another, and how far apart they are.
struct RunSteps {
  int64_t count = 1;
  int64_t index = 0;             // in elements
  int64_t data = 0, output = 0;  // in bytes
};

// A run of points along the innermost loop.
struct IndexRun {
  const std::byte* indices;         // the first point's first component
  int64_t stride;                   // index elements from point to point
  int64_t count;                    // at most kBlock; for move_direct, kDirectBlock
  int64_t data_step;                // bytes that data moves from point to point, besides the index
  bool check = false;               // under kFail: report bad indices
  const int32_t* places = nullptr;  // where data is at each point instead, as places_in_runs() says
  RunSteps steps = {};              // move_direct: as many runs as this
};

// Memory that is needed next, asked for bit by bit while rows are moved.
struct Ahead {
  const std::byte* begin;
  int64_t bytes;  // 0: nothing
};

// Where rows go, and how they are best moved.
struct RowMove {
  const std::byte* data;
  const int64_t* offsets;
  int64_t count;
  std::byte* output;
  int64_t output_step;
  int64_t row_bytes;
  int64_t prefetch_rows;  // how far ahead of its use a row is asked for; 0: rows are in cache
  Ahead next_indices, next_data;
  bool indices_go_on;    // behind these: a direct move may prefetch them
  bool output_far;       // not in cache: a direct move may prefetch its lines
  bool stream;           // write around the cache; rows are side by side
  bool hardware_gather;  // rows of 4 or 8 bytes, side by side, all offsets within 2^31
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

// Whether rows moved straight from indices can make up whole lines of the output as they come: each
// is of whole pieces, and a row of data apart from the next.
inline bool makes_lines(const Nest& nest, bool data_moves, const std::byte* output) {
  return nest.row_bytes % kStreamPiece == 0 && nest.coordinates.size() == 1 &&
         nest.coordinates[0].stride == nest.row_bytes && !data_moves &&
         reinterpret_cast<uintptr_t>(output) % kStreamPiece == 0;
}

struct Routines {
  // True if all components of `points` tuples are in range.
  bool (*check)(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points);
  // offsets[i] = Σ_c rule(index) · stride + i · data_step, or kFillRow (under kFill and kSkip).
  // Under kFail a bad index is clamped, and the result is false if run.check is set.
  bool (*resolve)(const Nest& nest, const IndexRun& run, int64_t* offsets);
  // Copies `count` rows of row_bytes each; no offset is kFillRow. After streamed rows the caller
  // flushes.
  void (*move)(const RowMove& rows);
  // resolve and move in one: for indices of type i32 or i64 side by side, one coordinate, rows of
  // up to 64 bytes side by side, and a rule that clamping keeps; with run.places, rows of a power
  // of two bytes. Goes through run.steps, each of run.count points. Ignores rows.offsets. The
  // result is that of resolve.
  bool (*move_direct)(const Nest& nest, const IndexRun& run, const RowMove& rows);
  // move with rows.offsets given in 32 bits instead: for rows of 4 or 8 bytes side by side, by
  // gather instructions or, on arm64, by loads. Any count. Null where there is neither.
  void (*gather_short)(const RowMove& rows, const int32_t* offsets);
  // Whether `move` can use gather instructions at all.
  bool has_gather_instruction;
};

inline constexpr int64_t kFillRow = INT64_MIN;  // an offset that stands for "nowhere"

// The routines for the best instruction set of this machine.
const Routines& routines();

}  // namespace sheaf::cpu
