// SPDX-License-Identifier: MIT
//
// One call by two ways: of its pieces some are fetched by the host, and the others, between them,
// are read from host memory by kernels in a stream of their own.
#include <algorithm>
#include <cstring>

#include "execution/run.h"
#include "plan/nest_shape.h"
#include "tables/costs.h"
#include "tables/ring_gather.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// A call has at least so many pieces, as far as it has points: fewer cannot be shared out.
constexpr int64_t kLeastPieces = 8;
// Where nothing was measured.
constexpr double kHalf = 0.5;

// Both ways then take as long.
double mapped_part(const Call& call) {
  const RowRates rates = rates_of(*known_costs(call.device->name), call.plan.nest().row_bytes);
  return rates.mapped > 0 ? rates.mapped / (rates.mapped + rates.ring) : kHalf;
}

}  // namespace

// The piece has the number of each row's first element, by which a kernel finds it.
void RingGather::run_mapped_piece(Desk& desk, const Piece& piece, const void* seen) {
  resolve(desk, piece);
  std::vector<int64_t>& places = desk.scratch.resolved;
  for (int64_t& offset : places) {
    offset = offset < 0 ? offset : offset / nest_.element_bytes;
  }
  std::byte* const memory = desk.begin_piece();
  const int64_t bytes = piece.points * static_cast<int64_t>(sizeof(int64_t));
  std::memcpy(memory, places.data(), static_cast<size_t>(bytes));
  desk.hand_over(
      [&] {
        std::byte* const staging = lane_.staging(lane_.piece_bytes(), Road::kSide);
        lane_.copy(staging, memory, bytes, Road::kSide);
        const Plan plan = plan_of_windows_piece(plan_, piece);
        Queue queue = lane_.queue(Road::kSide);
        queue.workspace = lane_.workspace(workspace_bytes(plan, queue), Road::kSide);
        start_gather(plan, {seen, staging, nullptr, output(piece)}, queue, {});
        stats_.rows += piece.points;
        stats_.bytes_to_device += bytes;
        ++stats_.pieces;
      },
      Road::kSide);
}

TableStats RingGather::run_split(const void* seen, double part) {
  const int64_t points = point_count(nest_);
  most_points_ = std::min({most_points_, std::max<int64_t>(points / kLeastPieces, 1),
                           lane_.piece_bytes() / static_cast<int64_t>(sizeof(int64_t))});
  distinct_ = false;
  const Pieces pieces(nest_, most_points_);
  // Of the first n pieces, so many are mapped: evenly spread.
  const auto mapped_before = [&](int64_t piece) {
    return static_cast<int64_t>(static_cast<double>(piece) * part + kHalf);
  };
  lane_.begin_side();
  try {
    workers_.run(pieces.count(), points * nest_.row_bytes, [&](Desk& desk, int64_t number) {
      const bool mapped = mapped_before(number + 1) > mapped_before(number);
      const Piece piece = pieces.at(number);
      mapped ? run_mapped_piece(desk, piece, seen) : run_piece(desk, piece);
    });
  } catch (...) {
    lane_.wait_for_side();
    throw;
  }
  lane_.end_side();
  return stats_;
}

TableStats run_split(const Call& call) {
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output},
                           call.index_place == IndexPlace::kQueue);
  const void* const seen = call.table.state().seen_by_device(call.table, *call.device).value();
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const HostIndices indices(call, lane);
  const auto reading = reading_rows(call.table);
  TableStats stats;
  if (!indices.plan().nest().empty()) {
    stats = RingGather(call, indices, lane).run_split(seen, mapped_part(call));
    lane.mark();
  }
  stats.calls = 1;
  return stats;
}

}  // namespace sheaf::tables
