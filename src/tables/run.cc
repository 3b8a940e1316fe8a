// SPDX-License-Identifier: MIT
//
// Calls on tables: what is checked for all ways, and the ways that are the plan itself.
#include "execution/run.h"

#include <algorithm>

#include "execution/launch.h"
#include "execution/registry.h"
#include "io/own_indices.h"
#include "io/planned_table.h"
#include "io/source.h"
#include "plan/refuse.h"
#include "support/text.h"
#include "tables/row_source.h"
#include "tables/runs.h"
#include "tables/scatter_call.h"
#include "tables/sharded_rows.h"
#include "tables/state.h"

namespace sheaf {
namespace tables {
namespace {

TableStats one_call(const Call& call) {
  const Nest& nest = call.plan.nest();
  int64_t rows = nest.empty() ? 0 : 1;
  for (const Loop& loop : nest.loops) {
    rows *= loop.extent;
  }
  TableStats stats;
  stats.calls = 1;
  stats.rows = rows;
  return stats;
}

// The plan on `data`, by a kernel of the queue's device.
TableStats run_on(const void* data, const Call& call) {
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  Queue queue = lane.queue();
  if (call.index_place == IndexPlace::kQueue) {
    queue.workspace = lane.workspace(workspace_bytes(call.plan, queue));
    start_gather(call.plan, {data, call.indices, nullptr, call.output}, queue, {});
  } else {
    check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output}, false);
    const io::OwnIndices own(call.plan, call.indices);
    const int64_t bytes = own.plan().ranges().indices.hi;
    queue.workspace = lane.workspace(workspace_bytes(own.plan(), queue));
    std::byte* const there = lane.staging(bytes);
    lane.upload(there, own.data(), bytes, call.table.state().options);
    start_gather(own.plan(), {data, there, nullptr, call.output}, queue, {});
  }
  lane.verdict_in_workspace = true;
  lane.mark();
  return one_call(call);
}

}  // namespace

TableStats run_on_host(const Call& call) {
  const auto reading = reading_rows(call.table);
  if (call.encoded != nullptr) {
    call.encoded->run(
        {call.table.source()->host_bytes(), nullptr, nullptr, call.indices, call.output},
        {.threads = call.queue.threads});
    return one_call(call);
  }
  start_gather(call.plan, {call.table.source()->host_bytes(), call.indices, nullptr, call.output},
               call.queue, {});
  return one_call(call);
}

TableStats run_on_device(const Call& call) {
  return run_on(call.table.source()->memory->data, call);
}

TableStats run_mapped(const Call& call) {
  return run_on(call.table.state().seen_by_device(call.table, *call.device).value(), call);
}

TableStats run_file(const Call& call) {
  if (call.device != nullptr) {
    return run_ring(call);
  }
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output}, true);
  run(call.plan, call.table, {call.indices, call.plan.indices()}, {call.output, call.plan.output()},
      call.table.state().options.file);
  TableStats stats = one_call(call);
  stats.rows_fetched = stats.rows;
  return stats;
}

}  // namespace tables

void run(const Plan& plan, const Table& data, const void* indices, void* output, const Queue& queue,
         IndexPlace place) {
  if (plan.is_scatter()) {
    refuse(plan.request(), {Reason::kPlan}, "plan of another operator",
           "this is a scatter, but it was run as a gather on a table",
           "a plan of a gather, or run_scatter");
  }
  tables::on_all_ranks(data, plan.request().name, [&] {
    check_planned(plan, "data", data.spec(), plan.data());
    const tables::Call call{plan, data, queue, prepared_device(queue), indices, output, place};
    const tables::Way& way = tables::choose_way(call);
    TableStats stats = way.run(call);
    stats.way = way.name;
    data.state().add(stats);
  });
}

void run(const EncodedGatherPlan& plan, const Table& data, const void* indices, void* output,
         const Queue& queue, IndexPlace place) {
  const Plan& named = plan.decoded_gather();
  if (std::string difference = io::difference_of(plan.data(), data); !difference.empty()) {
    refuse(named.request(), {Reason::kShape, "data"}, "planned for another table",
           std::move(difference), "a plan for info().encoded of this table");
  }
  const int64_t row_bytes = plan.data().sizes.back() * plan.output().dtype.bytes();
  if (!queue.device.empty() && row_bytes > 0 && named.nest().row_bytes % row_bytes != 0) {
    refuse_as(ErrorCode::kUnsupported, named.request(), {Reason::kShape, "data"},
              "elements of encoded rows", "rows are decoded whole on their way to a device",
              "whole rows (axis before the last), or a queue of the host");
  }
  const tables::Call call{named,   data,   queue, prepared_device(queue),
                          indices, output, place, &plan};
  const tables::Way& way = tables::choose_way(call);
  TableStats stats = way.run(call);
  stats.way = way.name;
  data.state().add(stats);
}

void prefetch(const Plan& plan, const Table& data, const void* indices, const Queue& queue,
              IndexPlace place) {
  if (plan.is_scatter()) {
    refuse(plan.request(), {Reason::kPlan}, "plan of another operator",
           "this is a scatter, but rows are prefetched for a gather", "a plan of a gather");
  }
  tables::on_all_ranks(data, plan.request().name, [&] {
    check_planned(plan, "data", data.spec(), plan.data());
    const tables::Call call{plan, data, queue, prepared_device(queue), indices, nullptr, place};
    const tables::Way* const way = tables::find_way(call);
    const bool fetches =
        way != nullptr && (way->name == "ring" || way->name == "file" || way->name == "sharded");
    if (call.device != nullptr && fetches) {
      data.state().add(tables::prefetch_ring(call));
    }
  });
}

void finish(const Plan& plan, const Table& data, const Queue& queue) {
  const Backend* const device = prepared_device(queue);
  if (device == nullptr) {
    return;
  }
  Queue checked = queue;
  bool has_verdict = false;
  if (tables::Lane* const lane = data.state().known_lane(*device, queue)) {
    const std::lock_guard lock(lane->mutex);
    checked.workspace = lane->workspace();
    has_verdict = lane->verdict_in_workspace;
  }
  has_verdict ? finish(plan, checked) : wait(queue);
}

std::vector<WayReport> table_ways(const Plan& plan, const Table& data, const Queue& queue) {
  if (plan.is_scatter()) {
    return tables::scatter_ways({plan, data, queue, prepared_device(queue)});
  }
  const tables::Call call{plan, data, queue, prepared_device(queue)};
  std::vector<WayReport> reports;
  for (const tables::Way& way : tables::ways_of(data)) {
    reports.push_back({way.name, tables::answer(way, call), way.refusal(call).empty()});
  }
  return reports;
}

std::string explain(const Plan& plan, const Table& data, const Queue& queue) {
  if (plan.is_scatter()) {
    return tables::explain_scatter({plan, data, queue, prepared_device(queue)});
  }
  const tables::Call call{plan, data, queue, prepared_device(queue)};
  const tables::Way& chosen = tables::choose_way(call);
  const std::string& forced = data.state().options.way;
  std::string text = cat("rows of ", plan.nest().row_bytes, " bytes, by the way \"", chosen.name,
                         "\"", forced.empty() ? "" : " that the options name", "\n");
  for (const tables::Way& way : tables::ways_of(data)) {
    const std::string answer = tables::answer(way, call);
    text += cat("  ", way.name, ": ", answer.empty() ? "takes the call" : answer, "\n");
  }
  return text + tables::decided_by(call);
}

}  // namespace sheaf
