// SPDX-License-Identifier: MIT
//
// Scatters that a device applies to its own memory. Inputs that are on the host are uploaded.
#include "execution/launch.h"
#include "execution/run.h"
#include "io/source.h"
#include "tables/scatter_call.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr int64_t kInputAlignment = 256;

struct Inputs {
  const std::byte* indices;
  const std::byte* updates;
};

// Copies of both in the lane's memory on the device.
Inputs uploaded(const ScatterCall& call, Lane& lane) {
  const TableOptions& options = call.table.state().options;
  const ByteRange indices = call.plan.ranges().indices, updates = call.plan.ranges().updates;
  const int64_t behind = (indices.hi - indices.lo + kInputAlignment - 1) / kInputAlignment;
  const int64_t updates_at = behind * kInputAlignment;
  std::byte* const memory = lane.staging(updates_at + updates.hi - updates.lo);
  const auto put = [&](std::byte* to, const void* from, ByteRange range) -> const std::byte* {
    if (range.empty()) {
      return nullptr;
    }
    lane.upload(to, static_cast<const std::byte*>(from) + range.lo, range.hi - range.lo, options);
    return to - range.lo;
  };
  return {put(memory, call.indices, indices), put(memory + updates_at, call.updates, updates)};
}

TableStats start_on(Lane& lane, const ScatterCall& call, bool inputs_here) {
  TableStats stats;
  Inputs inputs{static_cast<const std::byte*>(call.indices),
                static_cast<const std::byte*>(call.updates)};
  if (!inputs_here) {
    const TensorRanges& ranges = call.plan.ranges();
    inputs = uploaded(call, lane);
    stats.bytes_to_device =
        ranges.indices.hi - ranges.indices.lo + ranges.updates.hi - ranges.updates.lo;
  }
  Queue queue = lane.queue();
  queue.workspace = lane.workspace(workspace_bytes(call.plan, queue));
  auto* const data = const_cast<std::byte*>(call.table.source()->memory->data);
  start_scatter(call.plan, {data, inputs.indices, inputs.updates, data}, queue, {});
  lane.verdict_in_workspace = true;
  lane.mark();
  return stats;
}

}  // namespace

TableStats scatter_on_device(const ScatterCall& call) {
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  return start_on(lane, call, call.place == IndexPlace::kQueue);
}

TableStats scatter_by_upload(const ScatterCall& call) {
  const Queue there{.device = call.table.source()->memory->device};
  Lane& lane = call.table.state().lane(call.plan, *prepared_device(there), there);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  TableStats stats = start_on(lane, call, false);
  Queue queue = lane.queue();
  queue.workspace = lane.workspace();
  finish(call.plan, queue);
  return stats;
}

}  // namespace sheaf::tables
