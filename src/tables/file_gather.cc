// SPDX-License-Identifier: MIT
//
// Rows of a file to a device: all rows of a call are known before the first is read, so that the
// file is read in its own order, each block once. A kernel puts rows into their places.
#include <algorithm>

#include "execution/run.h"
#include "plan/nest_shape.h"
#include "plan/resolve.h"
#include "tables/host_indices.h"
#include "tables/piece_plan.h"
#include "tables/resolve_points.h"
#include "tables/row_delivery.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// Fills the whole output: rows that are fetched are written over it.
void fill_output(const Call& call, Lane& lane, int64_t points) {
  const int64_t bytes = points * static_cast<int64_t>(sizeof(int32_t));
  lane.wait();  // what the last call left there may still be on its way
  std::ranges::fill_n(reinterpret_cast<int32_t*>(lane.found.get(bytes)), points, kNoRow);
  std::byte* const numbers = lane.numbers(bytes);
  lane.copy_kept(numbers, lane.found, bytes);
  const Nest& nest = call.plan.nest();
  const Plan plan = plan_of_piece(call.plan, {.loops = nest.loops, .points = points}, 1);
  Queue queue = lane.queue();
  queue.workspace = lane.workspace(workspace_bytes(plan, queue));
  start_gather(plan, {lane.staging(nest.row_bytes), numbers, nullptr, call.output}, queue, {});
  lane.mark();
}

}  // namespace

TableStats run_in_file_order(const Call& call, Lane& lane) {
  const HostIndices indices(call, lane);
  const Nest& nest = indices.plan().nest();
  const int64_t points = point_count(nest);
  RowDelivery delivery(call, lane);
  std::vector<int64_t>& offsets = lane.offsets;
  offsets.resize(static_cast<size_t>(points));
  const bool some_outside =
      resolve_points(nest, indices.data(), 0, offsets, call.table.state().options.threads);
  auto* const numbers = reinterpret_cast<int32_t*>(lane.missed_points.get(points * 4));
  size_t rows = 0;
  for (size_t point = 0; point < offsets.size(); ++point) {
    if (offsets[point] != kOutside) {
      offsets[rows] = offsets[point];
      numbers[rows++] = static_cast<int32_t>(point);
    }
  }
  if (some_outside) {
    fill_output(call, lane, points);
  }
  if (rows > 0) {
    delivery.deliver(std::span(offsets).first(rows), {numbers, rows}, nullptr, false);
  }
  delivery.workers().check_unchanged();
  delivery.stats.rows = points;
  return delivery.stats;
}

}  // namespace sheaf::tables
