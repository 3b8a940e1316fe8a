// SPDX-License-Identifier: MIT
#include "backends/cpu/gather/tiles.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/points.h"
#include "backends/cpu/short_runs.h"
#include "backends/cpu/strip.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kLongRow = CancelPoint::kPieceBytes;
// Points of a block whose rows are moved straight from indices and are far away: few, so
// that a cancelled run ends soon.
constexpr int64_t kFarBlock = std::min(kProcessor.direct_block, CancelPoint::kPieceBytes / kLine);

// Whether the indices of a tile's steps of the middle loop follow one another in memory, and a
// direct mover prefetches them as one sequence.
bool indices_go_on(const Nest& nest, const Tiling& tiling) {
  const bool wanted = kProcessor.prefetches_near_indices ||
                      (tiling.mover->run.from_indices == &Routines::gather_direct &&
                       exceeds_cache(point_count(nest) * nest.index_type.bytes()));
  if (!wanted) {
    return false;
  }
  return tiling.middle.extent == 1 ||
         (tiling.inner_tile == tiling.inner.extent &&
          tiling.middle.index == tiling.inner.extent * tiling.inner.index);
}

// Divisions cost more than a small gather: most calls have a single piece.
int64_t pieces(int64_t extent, int64_t tile) {
  return extent <= tile ? 1 : divided_up(extent, tile);
}

// Takes the number of a loop's piece off `tile`; returns where that piece begins.
int64_t take_piece(int64_t& tile, const Loop& loop, int64_t extent) {
  const int64_t count = pieces(loop.extent, extent);
  if (count == 1) {
    return 0;
  }
  const int64_t piece = tile % count;
  tile /= count;
  return piece * extent;
}

// One run over tiles, with what does not change from tile to tile.
class TileRunner {
 public:
  // With a strip, `nest` is the one that chooses from it.
  TileRunner(const Nest& nest, const Tiling& tiling, const GatherBuffers& buffers,
             const Launch& launch, Strip* strip)
      : nest_(nest),
        tiling_(tiling),
        buffers_(buffers),
        routines_(routines()),
        mover_(*tiling.mover),
        check_(launch.check_while_moving),
        block_(mover_.run.from_indices == nullptr ? kBlock
               : tiling.prefetch_rows > 0         ? kFarBlock
                                                  : kProcessor.direct_block),
        indices_go_on_(indices_go_on(nest, tiling)),
        output_far_(!mover_.streams && point_count(nest) * nest.row_bytes > caches().l2),
        prefetches_indices_(mover_.run.from_indices == nullptr || !indices_go_on_),
        strip_(strip),
        data_(strip != nullptr ? strip->data() : buffers.data),
        cancel_(launch.cancel),
        short_offsets_(mover_.run.from_short != nullptr ? new (std::nothrow)
                                                              int32_t[kGather.short_block]
                                                        : nullptr),
        places_(tiling.runs_together > 1
                    ? places_in_runs(tiling.middle, tiling.inner, tiling.runs_together)
                    : nullptr) {}

  bool good() const { return good_; }
  bool cancelled() const { return cancel_.stopped(); }

  void run(int64_t tile) {
    const int64_t inner = take_piece(tile, tiling_.inner, tiling_.inner_tile);
    const int64_t middle = take_piece(tile, tiling_.middle, tiling_.middle_tile);
    Place place;
    for (size_t l = tiling_.outer.size(); l-- > 0;) {
      place.advance(tiling_.outer[l], tile % tiling_.outer[l].extent);
      tile /= tiling_.outer[l].extent;
    }
    place.advance(tiling_.middle, middle);
    place.advance(tiling_.inner, inner);
    run_blocks(place, std::min(tiling_.middle_tile, tiling_.middle.extent - middle),
               std::min(tiling_.inner_tile, tiling_.inner.extent - inner));
  }

 private:
  void run_blocks(const Place& place, int64_t rows, int64_t points) {
    if (tiling_.same_indices) {
      const int64_t block = short_offsets_ != nullptr ? kGather.short_block : kBlock;
      for (int64_t at = 0; at < points && !cancelled(); at += block) {
        run_same_indices(place, rows, at, std::min(block, points - at));
      }
      return;
    }
    Place first = place;
    if (strip_ != nullptr) {
      strip_->fill(buffers_.data + place.data, points * tiling_.inner.data);
      first.data = 0;
    }
    if (places_ != nullptr) {
      run_short_runs(first, rows, points);
      return;
    }
    // Runs that do not follow one another, as those of columns do not, in few calls.
    const int64_t together =
        mover_.run.from_indices != nullptr && points < block_ ? block_ / points : 1;
    for (int64_t row = 0; row < rows; row += together) {
      const int64_t steps = std::min(together, rows - row);
      for (int64_t at = 0; at < points; at += block_) {
        const int64_t count = std::min(block_, points - at);
        if (cancel_.before_rows(steps * count, narrow_bytes())) {
          return;
        }
        run_own_indices(first, at, count, points, steps);
      }
      first.advance(tiling_.middle, steps);
    }
  }

  void run_short_runs(Place first, int64_t rows, int64_t points) {
    for (int64_t row = 0; row < rows; row += tiling_.runs_together) {
      const int64_t runs = std::min(tiling_.runs_together, rows - row);
      if (cancel_.before_rows(runs * points, narrow_bytes())) {
        return;
      }
      run_own_indices(first, 0, runs * points, runs * points, 1);
      first.advance(tiling_.middle, runs);
    }
  }

  // One block of indices, resolved once, on `rows` steps of the middle loop.
  void run_same_indices(Place place, int64_t rows, int64_t at, int64_t count) {
    place.advance(tiling_.inner, at);
    if (short_offsets_ != nullptr) {
      resolve_short(place, count);
    } else {
      resolve(place, count);
    }
    // The first block brings the data in; the others find it in cache.
    const int64_t bytes = at == 0 ? tiling_.next_data_bytes : 0;
    for (int64_t row = 0; row < rows; ++row, place.advance(tiling_.middle, 1)) {
      if (cancel_.before_rows(count, narrow_bytes())) {
        return;
      }
      const Ahead next_data{data_ + place.data + tiling_.middle.data, bytes};
      if (short_offsets_ != nullptr) {
        (routines_.*mover_.run.from_short)(row_move(place, count, {}, next_data),
                                           short_offsets_.get());
      } else {
        move(place, count, {}, next_data);
      }
    }
  }

  // One block of indices of one step of the middle loop, or of several whose rows are one block.
  // What comes next, the following indices and a share of the next step's data, is
  // prefetched meanwhile.
  void run_own_indices(const Place& row, int64_t at, int64_t count, int64_t points, int64_t steps) {
    // Short rows are over before the next one's indices could arrive: those of a later one are
    // prefetched.
    const int64_t next = places_ != nullptr ? tiling_.runs_together : 1;
    Place next_row = row;
    next_row.advance(tiling_.middle, next);
    Place later_row = row;
    later_row.advance(tiling_.middle, points < kPrefetch.points ? kPrefetch.points / points : next);
    const int64_t share = points <= block_ ? tiling_.next_data_bytes
                                           : tiling_.next_data_bytes / pieces(points, block_);
    Place block = row;
    block.advance(tiling_.inner, at);
    Place next_block = row;
    next_block.advance(tiling_.inner, at + count);
    const Place& following = at + count < points ? next_block : later_row;
    const Ahead next_indices{index_at(following),
                             prefetches_indices_ ? packed_index_bytes(count) : 0};
    const Ahead next_data{data_ + next_row.data + at / block_ * share, share};
    if (mover_.run.from_indices != nullptr) {
      IndexRun run = index_run(block, count);
      const Loop& middle = tiling_.middle;
      run.steps = {steps, middle.index, middle.data, middle.output};
      good_ &= (routines_.*mover_.run.from_indices)(
          nest_, run, row_move(block, count, next_indices, next_data));
    } else {
      resolve(block, count);
      move(block, count, next_indices, next_data);
    }
  }

  // Indices that lie side by side can be prefetched as one piece.
  int64_t packed_index_bytes(int64_t count) const {
    return tiling_.inner.index == nest_.coordinates.size()
               ? count * tiling_.inner.index * nest_.index_type.bytes()
               : 0;
  }

  const std::byte* index_at(const Place& place) const {
    return buffers_.indices + place.index * nest_.index_type.bytes();
  }

  IndexRun index_run(const Place& place, int64_t count) const {
    return {index_at(place), tiling_.inner.index, count, tiling_.inner.data, check_, places_.get()};
  }

  RowMove row_move(const Place& place, int64_t count, const Ahead& next_indices,
                   const Ahead& next_data) const {
    return {.data = data_ + place.data,
            .offsets = offsets_,
            .count = count,
            .output = buffers_.output + place.output,
            .output_step = tiling_.inner.output,
            .row_bytes = nest_.row_bytes,
            .prefetch_rows = tiling_.prefetch_rows,
            .next_indices = next_indices,
            .next_data = next_data,
            .indices_go_on = indices_go_on_,
            .output_far = output_far_,
            .stream = mover_.streams};
  }

  void resolve(const Place& place, int64_t count) {
    good_ &= routines_.resolve(nest_, index_run(place, count), offsets_);
  }

  // Half the size: more of them stay in the first-level cache, beside the row they choose from. The
  // innermost loop does not move data here.
  void resolve_short(Place place, int64_t count) {
    for (int64_t at = 0; at < count; at += kBlock, place.advance(tiling_.inner, kBlock)) {
      const int64_t block = std::min(kBlock, count - at);
      resolve(place, block);
      std::transform(offsets_, offsets_ + block, short_offsets_.get() + at,
                     [](int64_t offset) { return static_cast<int32_t>(offset); });
    }
  }

  void move(const Place& place, int64_t count, const Ahead& next_indices, const Ahead& next_data) {
    RowMove rows = row_move(place, count, next_indices, next_data);
    if (rows.row_bytes > kLongRow) {
      move_long_rows(rows);
    } else {
      move_rows(rows);
    }
  }

  // Long rows in pieces, with a look at the cancellation before each.
  void move_long_rows(RowMove rows) {
    const int64_t piece = kLongRow / nest_.element_bytes * nest_.element_bytes;
    const int64_t* const end = rows.offsets + rows.count;
    std::byte* output = rows.output;
    rows.count = 1;
    for (; rows.offsets != end; ++rows.offsets, output += rows.output_step) {
      for (int64_t at = 0; at < nest_.row_bytes && !cancel_.before(piece); at += piece) {
        RowMove part = rows;
        part.data += at;
        part.output = output + at;
        part.row_bytes = std::min(piece, nest_.row_bytes - at);
        move_rows(part);
      }
    }
  }

  void move_rows(const RowMove& rows) {
    if (nest_.out_of_range == OutOfRange::kFill) {
      move_or_fill(rows);
    } else {
      move_(rows);
    }
  }

  // Runs of rows to move and runs of rows to fill, in turn.
  void move_or_fill(RowMove rows) {
    const int64_t* const end = rows.offsets + rows.count;
    while (rows.offsets != end) {
      const bool fill = *rows.offsets == kFillRow;
      const int64_t* const other = std::find_if(
          rows.offsets, end, [&](int64_t offset) { return (offset == kFillRow) != fill; });
      rows.count = other - rows.offsets;
      if (fill) {
        for (int64_t i = 0; i < rows.count; ++i) {
          fill_row(rows.output + i * rows.output_step, rows.row_bytes);
        }
      } else {
        move_(rows);
        rows.next_indices.bytes = rows.next_data.bytes = 0;  // prefetched by the first run
      }
      rows.output += rows.count * rows.output_step;
      rows.offsets = other;
    }
  }

  void fill_row(std::byte* output, int64_t bytes) const {
    std::memcpy(output, nest_.fill_value, static_cast<size_t>(nest_.element_bytes));
    for (int64_t done = nest_.element_bytes; done < bytes; done *= 2) {  // twice as much each time
      std::memcpy(output + done, output, static_cast<size_t>(std::min(done, bytes - done)));
    }
  }

  // Of a row, what is moved between two looks at the cancellation.
  int64_t narrow_bytes() const { return std::min(nest_.row_bytes, kLongRow); }

  alignas(64) int64_t offsets_[kBlock];
  const Nest& nest_;
  const Tiling& tiling_;
  const GatherBuffers& buffers_;
  const Routines& routines_;
  const Mover& mover_;
  // From offsets; rows from 32-bit offsets are copied where there is no memory for those.
  const MoveRows move_ =
      routines_.*(mover_.run.from_offsets != nullptr ? mover_.run.from_offsets : &Routines::copy);
  const bool check_;
  const int64_t block_;  // points at a time, unless indices serve many rows
  const bool indices_go_on_;
  const bool output_far_;
  const bool prefetches_indices_;  // else a direct mover prefetches those that follow
  Strip* const strip_;
  const std::byte* const data_;
  CancelPoint cancel_;
  bool good_ = true;
  std::unique_ptr<int32_t[]> short_offsets_;  // 32 KiB, which a thread's stack may not have
  std::unique_ptr<int32_t[]> places_;         // of runs that are moved together
};

}  // namespace

int64_t Tiling::tiles() const {
  int64_t count = pieces(middle.extent, middle_tile) * pieces(inner.extent, inner_tile);
  for (const Loop& loop : outer) {
    count *= loop.extent;
  }
  return count;
}

Tiling tile_nest(const Nest& nest) {
  Tiling tiling{};
  tiling.outer = {nest.loops.begin(), nest.loops.end()};
  for (Loop* loop : {&tiling.inner, &tiling.middle}) {
    *loop = kOneStep;
    if (!tiling.outer.empty()) {
      *loop = tiling.outer.back();
      tiling.outer = tiling.outer.first(tiling.outer.size() - 1);
    }
  }
  tiling.middle_tile = 1;
  tiling.inner_tile = std::max<int64_t>(1, std::min(tiling.inner.extent, 4 * kBlock));
  return tiling;
}

bool run_tiles(const Nest& nest, const Tiling& tiling, const GatherBuffers& buffers,
               const Launch& launch, int64_t begin, int64_t end) {
  const auto run = [&](const Nest& tile_nest, Strip* strip) {
    TileRunner runner(tile_nest, tiling, buffers, launch, strip);
    for (int64_t tile = begin; tile < end && !runner.cancelled(); ++tile) {
      runner.run(tile);
    }
    if (tiling.mover->streams) {
      hwy::FlushStream();  // other threads see streamed lines only after this
    }
    return runner.good();
  };
  if (!tiling.pack_strips) {
    return run(nest, nullptr);
  }
  Strip strip(nest.coordinates[0], tiling.inner_tile * tiling.inner.data);
  if (strip.data() == nullptr) {
    return run(nest, nullptr);  // slower, and needs no memory
  }
  Nest packed = nest;
  packed.coordinates[0] = strip.coordinate();
  return run(packed, &strip);
}

}  // namespace sheaf::cpu
