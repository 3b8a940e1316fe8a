// SPDX-License-Identifier: MIT
//
// One call by two ways: of its pieces some are fetched by the host, and the others, between them,
// are read from host memory by a kernel. While the kernel reads one, the host fetches the next.
#include <algorithm>
#include <cstring>

#include "execution/run.h"
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
void RingGather::run_mapped_piece(const Piece& piece, const void* seen) {
  resolve_next(piece.points);
  std::byte* const memory = lane_.begin_piece();
  for (int64_t& offset : lane_.resolved) {
    offset = offset < 0 ? offset : offset / nest_.element_bytes;
  }
  const int64_t bytes = piece.points * static_cast<int64_t>(sizeof(int64_t));
  std::memcpy(memory, lane_.resolved.data(), static_cast<size_t>(bytes));
  std::byte* const staging = lane_.staging(piece_bytes_);
  lane_.copy(staging, memory, bytes);
  gather(plan_of_windows_piece(plan_, piece), piece, seen, staging);
  lane_.end_piece();
  stats_.rows += piece.points;
  stats_.bytes_to_device += bytes;
  ++stats_.pieces;
}

TableStats RingGather::run_split(const void* seen, double part) {
  reserve();
  int64_t points = 1;
  for (const Loop& loop : nest_.loops) {
    points *= loop.extent;
  }
  most_points_ = std::min(most_points_, std::max<int64_t>(points / kLeastPieces, 1));
  distinct_ = false;
  Pieces pieces(nest_, most_points_);
  double due = kHalf;  // of the points so far: how many pieces too few were mapped
  for (Piece piece; pieces.next(piece);) {
    ask_and_throw(cancel_, plan_.request());
    due += part;
    due >= 1 ? run_mapped_piece(piece, seen) : run_piece(piece);
    due -= due >= 1 ? 1 : 0;
  }
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
