// SPDX-License-Identifier: MIT
#include "tables/ring_gather.h"

#include <algorithm>
#include <numeric>

#include "execution/run.h"
#include "plan/resolve.h"
#include "tables/resolve_points.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// A row that is fetched again costs less than finding that it need not be.
constexpr int64_t kDistinctRowBytes = 32;
// Unless so many of the points of a piece repeat a row, the next are not looked at: one in 16.
constexpr int64_t kWorthwhileRepeats = 16;

}  // namespace

RingGather::RingGather(const Call& call, const HostIndices& indices, Lane& lane)
    : call_(call),
      plan_(indices.plan()),
      nest_(plan_.nest()),
      options_(call.table.state().options),
      lane_(lane),
      indices_(indices.data()),
      rows_(open_rows(call.table, options_)) {
  if (call.encoded != nullptr) {
    rows_ = decoded_rows(*call.encoded, std::move(rows_));
  }
}

void RingGather::reserve() {
  // A row, its number, and the number of the slot that it is put into.
  const int64_t per_row = nest_.row_bytes + 2 * kNumberBytes;
  piece_bytes_ = lane_.reserve(per_row + kNumbersAlignment, options_);
  most_points_ =
      std::clamp<int64_t>((piece_bytes_ - kNumbersAlignment) / per_row, 1, kMostNumberedRows);
}

void RingGather::run_pieces() {
  distinct_ = nest_.row_bytes >= kDistinctRowBytes || cache_ != nullptr;
  Pieces pieces(nest_, most_points_);
  for (Piece piece; pieces.next(piece);) {
    ask_and_throw(cancel_, plan_.request());
    run_piece(piece);
  }
}

void RingGather::run_piece(const Piece& piece) {
  const std::span<const int64_t> fetched = number_rows(piece.points);
  std::byte* const memory = lane_.begin_piece();
  const int64_t bytes = std::ssize(fetched) * nest_.row_bytes;
  if (!fetched.empty()) {
    rows_->fetch(fetched, nest_.row_bytes, memory);
  }
  const bool as_fetched = std::ssize(fetched) == piece.points && cache_ == nullptr;
  if (as_fetched && is_contiguous(piece, nest_.row_bytes)) {
    lane_.copy(output(piece), memory, bytes);
    stats_.bytes_to_device += bytes;
  } else {
    place_rows(piece, memory, bytes);
  }
  lane_.end_piece();
  stats_.rows += piece.points;
  stats_.rows_fetched += std::ssize(fetched);
  ++stats_.pieces;
  const int64_t repeats = piece.points - std::ssize(fetched);
  distinct_ = cache_ != nullptr || (distinct_ && repeats * kWorthwhileRepeats >= piece.points);
}

std::byte* RingGather::output(const Piece& piece) const {
  return static_cast<std::byte*>(call_.output) + piece.output;
}

// Where the rows of the next points are, into lane_.resolved.
bool RingGather::resolve_next(int64_t count) {
  lane_.resolved.resize(static_cast<size_t>(count));
  const bool some_outside =
      resolve_points(nest_, indices_, first_point_, lane_.resolved, options_.threads);
  first_point_ += count;
  return some_outside;
}

// Of the next points: which row of the piece each is. Returns where the rows are in the table.
std::span<const int64_t> RingGather::number_rows(int64_t count) {
  const bool some_outside = resolve_next(count);
  lane_.numbers.clear();
  if (!distinct_ && !some_outside) {
    return lane_.resolved;  // each point has a row of its own
  }
  lane_.offsets.clear();
  if (distinct_) {
    lane_.seen.clear(count);
  }
  for (const int64_t offset : lane_.resolved) {
    lane_.numbers.push_back(number_of(offset));
  }
  return distinct_ ? lane_.seen.offsets() : std::span<const int64_t>(lane_.offsets);
}

int32_t RingGather::number_of(int64_t offset) {
  if (offset == kOutside) {
    return kNoRow;
  }
  if (cache_ != nullptr) {
    const int32_t slot = cache_->find(offset);
    ++(slot < 0 ? stats_.cache_misses : stats_.cache_hits);
    if (slot >= 0) {
      return static_cast<int32_t>(cache_->staged()) + slot;
    }
  }
  if (distinct_) {
    return lane_.seen.number_of(offset);
  }
  lane_.offsets.push_back(offset);
  return static_cast<int32_t>(lane_.offsets.size() - 1);
}

// Rows that repeat, are filled, cached, or do not stand side by side: a kernel puts them in their
// places. With a cache they arrive in front of its slots, so that one kernel reads both.
void RingGather::place_rows(const Piece& piece, std::byte* memory, int64_t rows_bytes) {
  const int64_t numbers_at = aligned_for_numbers(rows_bytes);
  const int64_t all = numbers_at + piece.points * kNumberBytes;
  if (lane_.numbers.empty()) {
    lane_.numbers.resize(static_cast<size_t>(piece.points));
    std::iota(lane_.numbers.begin(), lane_.numbers.end(), 0);
  }
  put_numbers(memory + numbers_at);
  std::byte* const staging = lane_.staging(piece_bytes_);
  if (cache_ == nullptr) {
    lane_.copy(staging, memory, all);
    gather(plans_.get(plan_, piece, most_points_), piece, staging, staging + numbers_at);
  } else {
    if (rows_bytes > 0) {
      lane_.copy(cache_->memory(), memory, rows_bytes);
    }
    lane_.copy(staging, memory + numbers_at, piece.points * kNumberBytes);
    gather(plans_.get(plan_, piece, cache_->staged() + cache_->slots()), piece, cache_->memory(),
           staging);
    admit_rows(memory + all, staging + piece.points * kNumberBytes);
  }
  stats_.bytes_to_device += rows_bytes + piece.points * kNumberBytes;
}

void RingGather::gather(const Plan& plan, const Piece& piece, const void* data,
                        const std::byte* numbers) {
  Queue queue = lane_.queue();
  queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
  start_gather(plan, {data, numbers, nullptr, output(piece)}, queue, {});
}

void RingGather::put_numbers(std::byte* to) const {
  std::copy_n(reinterpret_cast<const std::byte*>(lane_.numbers.data()),
              std::ssize(lane_.numbers) * kNumberBytes, to);
}

TableStats run_ring(const Call& call) {
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output},
                           call.index_place == IndexPlace::kQueue);
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const HostIndices indices(call, lane);
  const auto reading = reading_rows(call.table);
  TableStats stats;
  if (!indices.plan().nest().empty()) {
    stats = RingGather(call, indices, lane).run();
  }
  stats.calls = 1;
  return stats;
}

}  // namespace sheaf::tables
