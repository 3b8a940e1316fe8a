// SPDX-License-Identifier: MIT
#include "tables/ring_gather.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "execution/run.h"
#include "plan/nest_shape.h"
#include "plan/request.h"
#include "plan/resolve.h"
#include "tables/cached_gather.h"
#include "tables/resolve_points.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// A row that is fetched again costs less than finding that it need not be.
constexpr int64_t kDistinctRowBytes = 32;
// Unless so many of the points of a piece repeat a row, the next are not looked at: one in 2. Below
// that, a bus that is kept busy carries the repeats in less time than it takes to find them.
constexpr int64_t kWorthwhileRepeats = 2;
// Behind the rows of a piece stand their numbers, aligned for the device.
constexpr int64_t kNumbersAlignment = 16;

constexpr int64_t aligned_for_numbers(int64_t bytes) {
  return (bytes + kNumbersAlignment - 1) / kNumbersAlignment * kNumbersAlignment;
}

// The plan of the same rows, of which those out of range are left out.
Plan without_refusals(const Plan& plan) {
  Request request = plan.request();
  OutOfRange& rule = request.rule.out_of_range;
  rule = rule == OutOfRange::kFail || rule == OutOfRange::kTrust ? OutOfRange::kFill : rule;
  return make_plan(request);
}

}  // namespace

RingGather::RingGather(const Call& call, const HostIndices& indices, Lane& lane)
    : call_(call),
      plan_(indices.plan()),
      nest_(plan_.nest()),
      lane_(lane),
      indices_(indices.data()),
      decoding_(RowDecoding::on_device(call)),
      fetched_bytes_(decoding_ ? decoding_->stored_bytes() : nest_.row_bytes),
      workers_(call, lane, fetched_bytes_ + kNumberBytes + kNumbersAlignment,
               decoding_ ? PieceWorkers::Fetches::kStored : PieceWorkers::Fetches::kDecoded),
      most_points_(std::clamp<int64_t>(
          (lane.piece_bytes() - kNumbersAlignment) / (fetched_bytes_ + kNumberBytes), 1,
          kMostNumberedRows)),
      distinct_(nest_.row_bytes >= kDistinctRowBytes) {
  most_points_ = workers_.rows_per_piece(most_points_, point_count(nest_), fetched_bytes_);
}

TableStats RingGather::run() {
  workers_.begin();
  const Pieces pieces(nest_, most_points_);
  workers_.run(pieces.count(), point_count(nest_) * nest_.row_bytes,
               [&](Desk& desk, int64_t piece) { run_piece(desk, pieces.at(piece)); });
  workers_.check_unchanged();
  return stats_;
}

void RingGather::run_piece(Desk& desk, const Piece& piece) {
  const std::span<const int64_t> fetched = number_rows(desk, piece);
  std::byte* const memory = desk.begin_piece();
  const int64_t bytes = std::ssize(fetched) * fetched_bytes_;
  if (!fetched.empty()) {
    desk.rows->fetch(fetched, fetched_bytes_, memory);
  }
  std::vector<int32_t>& numbers = desk.scratch.numbers;
  const bool as_fetched = numbers.empty() && !decoding_ && is_contiguous(piece, nest_.row_bytes);
  if (!as_fetched) {
    if (numbers.empty()) {
      numbers.resize(static_cast<size_t>(piece.points));
      std::iota(numbers.begin(), numbers.end(), 0);
    }
    std::memcpy(memory + aligned_for_numbers(bytes), numbers.data(),
                numbers.size() * sizeof numbers[0]);
  }
  const int64_t repeats = piece.points - std::ssize(fetched);
  if (repeats * kWorthwhileRepeats < piece.points) {
    distinct_ = false;
  }
  desk.hand_over([&] {
    copy_piece(piece, memory, bytes, as_fetched);
    stats_.rows += piece.points;
    stats_.rows_fetched += std::ssize(fetched);
    ++stats_.pieces;
  });
}

std::byte* RingGather::output(const Piece& piece) const {
  return static_cast<std::byte*>(call_.output) + piece.output;
}

// Where the rows of a piece are, into desk.scratch.resolved.
bool RingGather::resolve(Desk& desk, const Piece& piece) const {
  std::vector<int64_t>& resolved = desk.scratch.resolved;
  resolved.resize(static_cast<size_t>(piece.points));
  const bool some_outside = resolve_points(nest_, indices_, piece.first, resolved, desk.threads);
  if (decoding_) {
    for (int64_t& offset : resolved) {
      offset = offset == kOutside ? kOutside : offset / nest_.row_bytes * fetched_bytes_;
    }
  }
  return some_outside;
}

// Where the rows that have to be fetched are in the table; which of them each point is, unless each
// has its own.
std::span<const int64_t> RingGather::number_rows(Desk& desk, const Piece& piece) const {
  PieceScratch& scratch = desk.scratch;
  const bool some_outside = resolve(desk, piece);
  const bool distinct = distinct_;
  scratch.numbers.clear();
  if (!distinct && !some_outside) {
    return scratch.resolved;
  }
  scratch.offsets.clear();
  scratch.seen.clear(distinct ? piece.points : 0);
  for (const int64_t offset : scratch.resolved) {
    if (offset == kOutside) {
      scratch.numbers.push_back(kNoRow);
    } else if (distinct) {
      scratch.numbers.push_back(scratch.seen.number_of(offset));
    } else {
      scratch.numbers.push_back(static_cast<int32_t>(scratch.offsets.size()));
      scratch.offsets.push_back(offset);
    }
  }
  const auto rows = distinct ? scratch.seen.offsets() : std::span<const int64_t>(scratch.offsets);
  if (std::ssize(rows) == piece.points) {
    scratch.numbers.clear();
  }
  return rows;
}

// Rows that repeat, are filled, or do not stand side by side: a kernel puts them in their places.
// One thread at a time.
void RingGather::copy_piece(const Piece& piece, const std::byte* memory, int64_t rows_bytes,
                            bool as_fetched) {
  if (as_fetched) {
    lane_.copy(output(piece), memory, rows_bytes);
    stats_.bytes_to_device += rows_bytes;
    return;
  }
  const int64_t numbers_at = aligned_for_numbers(rows_bytes);
  const int64_t all = numbers_at + piece.points * kNumberBytes;
  std::byte* const staging = lane_.staging(lane_.piece_bytes());
  lane_.copy(staging, memory, all);
  place_rows(piece, staging, staging + numbers_at);
  stats_.bytes_to_device += all;
}

void RingGather::place_rows(const Piece& piece, const std::byte* rows, const std::byte* numbers) {
  Queue queue = lane_.queue();
  if (decoding_) {
    const EncodedGatherPlan plan = decoding_->plan_of(piece.points, most_points_);
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    sheaf::run(plan, {rows, nullptr, nullptr, numbers, output(piece)}, queue);
    return;
  }
  const Plan& plan = plans_.get(plan_, piece, most_points_);
  queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
  start_gather(plan, {rows, numbers, nullptr, output(piece)}, queue, {});
}

// Reading the rows is all that a cache of the file asks for.
TableStats RingGather::prefetch() {
  const Pieces pieces(nest_, most_points_);
  distinct_ = true;
  workers_.run(pieces.count(), point_count(nest_) * nest_.row_bytes,
               [&](Desk& desk, int64_t number) {
                 const std::span<const int64_t> rows = number_rows(desk, pieces.at(number));
                 if (!rows.empty()) {
                   desk.rows->fetch(rows, fetched_bytes_, desk.begin_piece());
                 }
                 const std::lock_guard lock(lane_.enqueueing);
                 stats_.rows_prefetched += std::ssize(rows);
                 ++stats_.pieces;
               });
  return stats_;
}

TableStats run_ring(const Call& call) {
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output},
                           call.index_place == IndexPlace::kQueue);
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const auto reading = reading_rows(call.table);
  TableStats stats;
  if (uses_cache(call)) {
    stats = run_cached(call, lane);
  } else if (call.table.place() == TablePlace::kFile && has_free_order(call)) {
    stats = run_in_file_order(call, lane);
  } else {
    const HostIndices indices(call, lane);
    if (!indices.plan().nest().empty()) {
      stats = RingGather(call, indices, lane).run();
    }
  }
  stats.calls = 1;
  return stats;
}

TableStats prefetch_ring(const Call& given) {
  const Plan plan = without_refusals(given.plan);
  const Call call{plan,          given.table, given.queue,      given.device,
                  given.indices, nullptr,     given.index_place};
  check_indices(plan, call.indices);
  Lane& lane = call.table.state().lane(plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const auto reading = reading_rows(call.table);
  if (uses_cache(call)) {
    return prefetch_cached(call, lane);
  }
  const TableOptions& options = call.table.state().options;
  const HostIndices indices(call, lane);
  const bool keeps_rows = call.table.place() == TablePlace::kFile && options.file.cache != nullptr;
  return keeps_rows && !indices.plan().nest().empty() ? RingGather(call, indices, lane).prefetch()
                                                      : TableStats{};
}

}  // namespace sheaf::tables
