// SPDX-License-Identifier: MIT
//
// The scatter kernels of the CPU: who takes which nest.
#include "backends/cpu/scatter/kernels.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/short_runs.h"
#include "execution/choice.h"
#include "execution/registry.h"
#include "plan/resolve.h"

namespace sheaf::cpu {
namespace {

// Bytes from the row of data that indices jump about in to the next one; 0: there is none, or it is
// too large to be prefetched as a whole.
int64_t next_row(const Nest& nest) {
  const int64_t step = nest.loops.size() > 1 ? nest.loops[nest.loops.size() - 2].data : 0;
  return nest.coordinates.size() == 1 && nest.coordinates[0].stride > 0 &&
                 reach_of_indices(nest) <= std::min(step, kPrefetch.near_data)
             ? step
             : 0;
}

// Whether a tensor goes on in memory from one step of the second loop to the next.
bool goes_on(const Nest& nest, int64_t Loop::*stride) {
  if (nest.loops.size() < 2) {
    return true;
  }
  const Loop& inner = nest.loops.back();
  return nest.loops[nest.loops.size() - 2].*stride - inner.*stride ==
         (inner.extent - 1) * (inner.*stride);  // which is a distance within the tensor
}

// How many threads could each own data, no two on one line: by loops that move through data.
int64_t loop_parts(const Nest& nest) {
  int64_t parts = 1;
  for (const Loop& loop : nest.loops) {
    if (loop.data != 0) {
      const int64_t bytes = loop.extent * std::min(kLine, std::abs(loop.data));
      parts *= std::clamp<int64_t>(bytes / kLine, 1, kScatter.many_parts);
      parts = std::min(parts, kScatter.many_parts);
    }
  }
  return parts;
}

// By columns of the rows, too, of which each part goes through all updates.
int64_t column_parts(const Nest& nest) {
  return std::max<int64_t>(1, nest.row_bytes / kScatter.least_columns) * loop_parts(nest);
}

}  // namespace

const char* in_order_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  for (const Loop& loop : nest.loops) {
    if (loop.window != 0) {
      return "windows are cut element by element";
    }
  }
  return nullptr;
}

const char* cells_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* why = in_order_refusal(query)) {
    return why;
  }
  return rows_apart(nest) ? nullptr : "windows may overlap in data";
}

const char* parts_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* why = cells_refusal(query)) {
    return why;
  }
  return loop_parts(nest) >= kScatter.few_parts || column_parts(nest) >= kScatter.many_parts
             ? nullptr
             : "too few parts of data for threads to own";
}

const char* plain_refusal(const KernelQuery& /*query*/) { return nullptr; }

bool scatter_plain(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  return scatter_kernel(host_backend("reference"), nest).run(nest, buffers, launch);
}

namespace {

// Whether single elements are reduced straight from indices.
bool reduces_directly(const Nest& nest, const Share& share) {
  const Loop& inner = innermost(nest);
  const bool clamps =
      nest.out_of_range == OutOfRange::kFail || nest.out_of_range == OutOfRange::kClamp;
  return share.is_all() && clamps && nest.coordinates.size() == 1 && inner.index == 1 &&
         (inner.data == 0 || !kProcessor.columns_from_offsets) &&
         (nest.index_type == i64 || nest.index_type == i32);
}

// Single elements: those that indices count, and those of the updates. The last piece of a row may
// be one element, too, but those are a row apart.
bool elements_side_by_side(const Nest& nest, const RowReduction& rows) {
  return nest.coordinates[0].stride == rows.row_bytes && rows.update_step == rows.row_bytes;
}

// How many runs are reduced as one, of `bytes` of each row.
int64_t short_runs(const Nest& nest, int64_t bytes) {
  if (nest.loops.size() < 2) {
    return 1;
  }
  return runs_together(nest.loops[nest.loops.size() - 2], innermost(nest), bytes);
}

}  // namespace

RunReducer::RunReducer(const Nest& nest, const ScatterBuffers& buffers, int64_t prefetch_rows,
                       int64_t first, int64_t bytes, const Launch& launch, const Share& share)
    : nest_(nest),
      buffers_(buffers),
      check_(launch.check_while_moving),
      cancel_(launch.cancel),
      block_(std::clamp<int64_t>(CancelPoint::kPieceBytes / bytes, 1, kBlock)),
      routines_(routines()),
      share_(share),
      reduce_(reducer_for(nest.element_type, nest.reduction, bytes)),
      direct_(reduces_directly(nest, share)
                  ? direct_reducer_for(nest.element_type, nest.reduction, bytes)
                  : nullptr),
      rows_{.data = buffers.data + first,
            .to = to_,
            .updates = buffers.updates + first,
            .from = nullptr,
            .update_step = innermost(nest).output,
            .count = 0,
            .row_bytes = bytes,
            .prefetch_rows = prefetch_rows,
            .reduce = reduce_row(nest.element_type, nest.reduction)},
      runs_together_(share.is_all() ? short_runs(nest, bytes) : 1),
      places_(runs_together_ > 1 ? places_in_runs(nest.loops[nest.loops.size() - 2],
                                                  innermost(nest), runs_together_)
                                 : nullptr),
      next_row_(next_row(nest)) {}

bool RunReducer::reduce_runs(Place start, int64_t runs) {
  const Loop& outer = nest_.loops[nest_.loops.size() - 2];
  bool good = true;
  for (int64_t run = 0; run < runs; run += runs_together_) {
    const int64_t together = std::min(runs_together_, runs - run);
    RowReduction rows = rows_;
    rows.count = together * innermost(nest_).extent;
    if (cancel_.before_rows(rows.count, rows.row_bytes)) {
      break;
    }
    good &= reduce_rows(start, 0, places_.get(), rows);
    start.advance(outer, together);
  }
  return good;
}

bool RunReducer::reduce(Place start, int64_t count) {
  const Loop& inner = innermost(nest_);
  bool good = true;
  for (int64_t at = 0; at < count; at += block_) {
    const int64_t block = std::min(block_, count - at);
    if (cancel_.before_rows(block, rows_.row_bytes)) {
      break;
    }
    RowReduction rows = rows_;
    rows.count = block;
    good &= reduce_rows(start, at, nullptr, rows);
    start.advance(inner, block);
  }
  return good;
}

bool RunReducer::reduce_rows(const Place& start, int64_t done, const int32_t* places,
                             RowReduction rows) {
  const std::byte* indices = buffers_.indices + start.index * nest_.index_type.bytes();
  rows.data += start.data;
  rows.updates += start.output;
  if (direct_ != nullptr && (places == nullptr || elements_side_by_side(nest_, rows))) {
    return reduce_direct(indices, done, places, rows);
  }
  const Loop& inner = innermost(nest_);
  const bool good =
      routines_.resolve(nest_, {indices, inner.index, rows.count, inner.data, check_, places}, to_);
  if (!share_.is_all()) {
    keep_own(rows, start.data);
  } else if (nest_.out_of_range == OutOfRange::kSkip) {
    leave_out_skipped(rows);
  }
  reduce_resolved(rows);
  return good;
}

// A long row is reduced in pieces, with a look at the cancellation before each.
void RunReducer::reduce_resolved(const RowReduction& rows) {
  if (rows.row_bytes <= CancelPoint::kPieceBytes) {
    reduce_(rows);
    return;
  }
  const int64_t element = nest_.element_type.bytes();
  const int64_t piece = CancelPoint::kPieceBytes / element * element;
  for (int64_t at = 0; at < rows.row_bytes && !cancel_.before(piece); at += piece) {
    RowReduction part = rows;
    part.data += at;
    part.updates += at;
    part.row_bytes = std::min(piece, rows.row_bytes - at);
    reduce_(part);
  }
}

bool RunReducer::reduce_direct(const std::byte* indices, int64_t done, const int32_t* places,
                               const RowReduction& rows) {
  const Coordinate& c = nest_.coordinates[0];
  const bool from_end = nest_.negative == Negative::kFromEnd;
  const std::byte* first = indices + c.offset * nest_.index_type.bytes();
  if (nest_.index_type == i32) {  // widened, so that there is one loop per reduction
    for (int64_t i = 0; i < rows.count; ++i) {
      to_[i] = load_index<int32_t>(first, i);
    }
    first = reinterpret_cast<const std::byte*>(to_);
  }
  const bool next = next_row_ != 0 && done < c.extent && places == nullptr;
  return direct_({.indices = first,
                  .from_end = from_end ? c.extent : 0,
                  .extent = c.extent,
                  .stride = c.stride,
                  .data_step = innermost(nest_).data,
                  .places = places,
                  .indices_go_on = nest_.index_type == i64 && goes_on(nest_, &Loop::index),
                  .updates_go_on = goes_on(nest_, &Loop::output),
                  .next_data = next ? next_row_ + done * rows.row_bytes : 0},
                 rows) ||
         !check_;
}

// Turns a block into the list of what remains, if that is not all.
void RunReducer::leave_out_skipped(RowReduction& rows) {
  if (std::find(to_, to_ + rows.count, kSkipRow) == to_ + rows.count) {
    return;
  }
  int64_t kept = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    if (to_[i] != kSkipRow) {
      to_[kept] = to_[i];
      from_[kept++] = i * rows.update_step;
    }
  }
  rows.from = from_;
  rows.count = kept;
}

// The same with the updates of other threads. No branch: which thread owns an update is not
// predictable.
void RunReducer::keep_own(RowReduction& rows, int64_t data) {
  const bool skips = nest_.out_of_range == OutOfRange::kSkip;
  int64_t kept = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    const int64_t to = to_[i];
    const bool skipped = skips && to == kSkipRow;
    to_[kept] = to;
    from_[kept] = i * rows.update_step;
    kept += !skipped && share_.owns(skipped ? data : to + data) ? 1 : 0;
  }
  rows.from = from_;
  rows.count = kept;
}

void RunReducer::prefetch(const Place& start, int64_t count) const {
  const Loop& inner = innermost(nest_);
  const auto prefetch_lines = [](const std::byte* memory, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += kLine) {
      prefetch_line(memory + at);
    }
  };
  const int64_t index_bytes = nest_.index_type.bytes();
  if (inner.index == nest_.coordinates.size()) {
    prefetch_lines(buffers_.indices + start.index * index_bytes, count * inner.index * index_bytes);
  }
  if (inner.output == nest_.row_bytes) {
    prefetch_lines(rows_.updates + start.output, count * inner.output);
  }
}

bool scatter_in_order(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const ByteRange reach = data_reach(nest);
  RunReducer reducer(nest, buffers, rows_ahead(nest, reach.hi - reach.lo), 0, nest.row_bytes,
                     launch);
  bool good = true;
  if (reducer.joins_runs()) {
    Nest runs = nest;  // one point for each run
    runs.loops.pop_back();
    const int64_t all = runs.loops.back().extent;
    for_each_run(runs, 0, point_count(runs), all, [&](const Place& start, int64_t count) {
      good &= reducer.reduce_runs(start, count);
      return !reducer.cancelled();
    });
    return good;
  }
  const int64_t longest = innermost(nest).extent;  // reduce() cuts it into blocks
  for_each_run(nest, 0, point_count(nest), longest, [&](const Place& start, int64_t count) {
    good &= reducer.reduce(start, count);
    return !reducer.cancelled();
  });
  return good;
}

int64_t rows_ahead(const Nest& nest, int64_t bytes) {
  return bytes <= caches().l2 / 2 ? 0 : rows_ahead(nest.row_bytes);
}

}  // namespace sheaf::cpu
