// SPDX-License-Identifier: MIT
#include "backends/cpu/movers/movers.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backends/cpu/gather/tiles.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/points.h"

namespace sheaf::cpu {
namespace {

// Conditions: null if they hold, else the reason of a refusal.

constexpr const char* unless(bool holds, const char* reason) { return holds ? nullptr : reason; }

// Whether every row of the output begins at a multiple of `bytes`.
bool output_aligned(const MoverQuery& query, int64_t bytes) {
  const Fixed<Loop>& loops = query.nest.loops;
  return query.output % static_cast<uintptr_t>(bytes) == 0 &&
         std::all_of(loops.begin(), loops.end(),
                     [bytes](const Loop& loop) { return loop.output % bytes == 0; });
}

bool whole_lines(const MoverQuery& query) {
  return query.nest.row_bytes % kLine == 0 && output_aligned(query, kLine);
}

const char* shares_lines(const MoverQuery& query) {
  return unless(!whole_lines(query), "rows are whole lines of the output");
}

const char* side_by_side(const MoverQuery& query) {
  return unless(query.tiling.inner.output == query.nest.row_bytes,
                "rows are not side by side in the output");
}

const char* can_stream(const MoverQuery& query) {
  return unless(kProcessor.streaming_stores && query.routines.stream != nullptr,
                "streaming stores do not pay on this processor");
}

const char* can_gather(const MoverQuery& query) {
  return unless(query.routines.gather != nullptr, "no gather instruction");
}

const char* gathers_win(const MoverQuery& /*query*/) {
  return unless(gather_instruction_wins(), "loads are faster than this processor's gathers");
}

// Where there is no gather instruction, rows are loaded from short offsets.
const char* short_wins(const MoverQuery& query) {
  return query.routines.gather == nullptr ? nullptr : gathers_win(query);
}

const char* in_cache(const MoverQuery& query) {
  return unless(query.tiling.prefetch_rows == 0, "rows are far away, and prefetched from offsets");
}

const char* exceeds_caches(const MoverQuery& query) {
  const int64_t bytes = point_count(query.nest) * query.nest.row_bytes;
  if (!exceeds_cache(bytes)) {
    return "the output stays in the cache";
  }
  const bool in_last_level = query.threads > 1 && bytes <= caches().last / 2;
  const ByteRange reach = in_last_level ? data_reach(query.nest) : ByteRange{};
  return unless(!in_last_level || reach.hi - reach.lo > caches().l2,
                "threads write to the last-level cache faster than to memory");
}

const char* a_line_or_more(const MoverQuery& query) {
  return unless(query.nest.row_bytes >= kLine, "rows of less than 64 bytes");
}

const char* fits_stage(const MoverQuery& query) {
  return unless(query.nest.row_bytes < kGather.streamed_row, "rows of 2 KiB or more");
}

// Offsets along a block stay within 2^31: what the indices reach, and the steps of data.
const char* short_offsets(const MoverQuery& query) {
  constexpr int64_t kFarthest = int64_t{1} << 30;
  if (query.nest.row_bytes != 4 && query.nest.row_bytes != 8) {
    return "rows of neither 4 nor 8 bytes";
  }
  return unless(reach_of_indices(query.nest) < kFarthest &&
                    std::abs(query.tiling.inner.data) < kFarthest / kProcessor.direct_block,
                "offsets need more than 32 bits");
}

const char* indices_serve_many(const MoverQuery& query) {
  if (!query.tiling.same_indices) {
    return "indices serve one row only";
  }
  return query.routines.from_short == nullptr
             ? "no gather instruction"
             : unless(query.nest.out_of_range != OutOfRange::kFill, "rows may have to be filled");
}

const char* from_indices(const MoverQuery& query) {
  const Nest& nest = query.nest;
  if (query.tiling.same_indices) {
    return "indices serve many rows";
  }
  if (nest.row_bytes > kLine) {
    return "rows of more than 64 bytes";
  }
  if (nest.coordinates.size() != 1 || query.tiling.inner.index != 1) {
    return "not one index per row, side by side";
  }
  if (nest.index_type != i64 && nest.index_type != i32) {
    return "indices are neither i32 nor i64";
  }
  if (nest.out_of_range == OutOfRange::kFill || nest.out_of_range == OutOfRange::kWrap) {
    return "indices out of range are neither clamped nor refused";
  }
  return unless(query.tiling.runs_together == 1 || std::has_single_bit(uint64_t(nest.row_bytes)),
                "short runs of rows that are no power of two");
}

// Lines can be put together in registers.
const char* makes_lines(const MoverQuery& query) {
  const Nest& nest = query.nest;
  if (nest.row_bytes % kStreamPiece != 0 || !output_aligned(query, kStreamPiece)) {
    return "rows, or where they go, are no multiples of 16 bytes";
  }
  return unless(nest.coordinates[0].stride == nest.row_bytes && query.tiling.inner.data == 0 &&
                    query.tiling.runs_together == 1,
                "rows are not side by side in data");
}

// Measured on a Xeon: streamed straight from indices, rows of 16 to 64 bytes from far away take 0.6
// to 0.85 of the time that they take from offsets, rows of 64 bytes from a cache 0.7.
const char* far_or_a_line(const MoverQuery& query) {
  return unless(query.nest.row_bytes == kLine || query.tiling.prefetch_rows > 0,
                "rows are in cache");
}

// Where lines are streamed, the others are faster from offsets, which prefetch them.
const char* near_and_narrow(const MoverQuery& query) {
  return kProcessor.streaming_stores && query.nest.row_bytes == kLine
             ? "rows of a line are prefetched from offsets"
         : kProcessor.streaming_stores ? in_cache(query)
                                       : nullptr;
}

bool has_turns(int64_t row_bytes) {
  return row_bytes >= 2 * kGather.turn_bytes && row_bytes <= CancelPoint::kPieceBytes;
}

const char* wide_rows(const MoverQuery& query) {
  return unless(has_turns(query.nest.row_bytes), "rows of less than 512 bytes, or above 1 MiB");
}

const char* turns_win(const MoverQuery& query) {
  if (!kProcessor.prefetcher_overshoots) {
    return "this processor prefetches no more than a row";
  }
  return query.tiling.prefetch_rows == 0 || query.tiling.inner_tile == 1
             ? "rows are in cache, or alone"
             : unless(whole_lines(query), "rows are no whole lines of the output");
}

using R = Routines;

constexpr Mover kMovers[] = {
    {"short_stream",
     {indices_serve_many, short_offsets, side_by_side, can_gather},
     {in_cache, gathers_win, exceeds_caches},
     {.from_short = &R::from_short},
     true},
    {"short",
     {indices_serve_many, short_offsets, side_by_side},
     {in_cache, short_wins},
     {.from_short = &R::from_short}},
    {"gather_direct_stream",
     {can_gather, short_offsets, side_by_side, from_indices},
     {in_cache, gathers_win, exceeds_caches},
     {.from_indices = &R::gather_direct},
     true},
    {"gather_direct",
     {can_gather, short_offsets, side_by_side, from_indices},
     {in_cache, gathers_win},
     {.from_indices = &R::gather_direct}},
    {"stream_direct",
     {can_stream, from_indices, side_by_side, makes_lines},
     {exceeds_caches, far_or_a_line},
     {.from_indices = &R::stream_direct},
     true},
    {"copy_direct",
     {from_indices, side_by_side},
     {near_and_narrow},
     {.from_indices = &R::copy_direct}},
    {"gather_stream",
     {can_gather, short_offsets, side_by_side},
     {in_cache, gathers_win, exceeds_caches},
     {.from_offsets = &R::gather},
     true},
    {"gather",
     {can_gather, short_offsets, side_by_side},
     {in_cache, gathers_win},
     {.from_offsets = &R::gather}},
    {"stream_staged",
     {can_stream, a_line_or_more, side_by_side, fits_stage},
     {exceeds_caches, shares_lines},
     {.from_offsets = &R::stream_staged},
     true},
    {"stream",
     {can_stream, a_line_or_more, side_by_side},
     {exceeds_caches},
     {.from_offsets = &R::stream},
     true},
    {"in_turn", {wide_rows}, {turns_win}, {.from_offsets = &R::in_turn}},
    {"copy", {}, {}, {.from_offsets = &R::copy}},
};

// The first condition that does not hold; null if all do.
const char* refusal(const Mover::Conditions& conditions, const MoverQuery& query) {
  for (const Mover::Condition condition : conditions) {
    if (condition == nullptr) {
      break;
    }
    if (const char* why = condition(query)) {
      return why;
    }
  }
  return nullptr;
}

}  // namespace

const Mover& choose_mover(const MoverQuery& query, std::string_view asked) {
  return *std::find_if(std::begin(kMovers), std::end(kMovers) - 1, [&](const Mover& mover) {
    return asked.empty()
               ? refusal(mover.can, query) == nullptr && refusal(mover.wins, query) == nullptr
               : mover.name == asked;
  });
}

std::vector<MoverReport> mover_reports(const MoverQuery& query) {
  std::vector<MoverReport> reports;
  for (const Mover& mover : kMovers) {
    const char* const why = refusal(mover.can, query);
    reports.push_back(
        {mover.name, why != nullptr ? why : refusal(mover.wins, query), why == nullptr});
  }
  return reports;
}

MoveRows rows_mover(const RowMove& rows) {
  const Routines& all = routines();
  if (!rows.stream && !has_turns(rows.row_bytes)) {
    return all.copy;  // most small calls
  }
  const bool lines = (rows.row_bytes | rows.output_step) % kLine == 0 &&
                     reinterpret_cast<uintptr_t>(rows.output) % kLine == 0;
  if (rows.stream) {
    return lines || rows.row_bytes >= kGather.streamed_row ? all.stream : all.stream_staged;
  }
  return kProcessor.prefetcher_overshoots && rows.prefetch_rows > 0 && rows.count > 1 && lines
             ? all.in_turn
             : all.copy;
}

bool exceeds_cache(int64_t output_bytes) {
  return output_bytes > std::min(kGather.streamed_output, caches().last / 4);
}

}  // namespace sheaf::cpu
