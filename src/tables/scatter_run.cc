// SPDX-License-Identifier: MIT
//
// Scatters into tables: what is checked for all of them, and which way takes one.
#include "execution/launch.h"
#include "execution/run.h"
#include "io/source.h"
#include "plan/refuse.h"
#include "support/text.h"
#include "tables/scatter_call.h"
#include "tables/state.h"

namespace sheaf {
namespace tables {
namespace {

struct ScatterWay {
  std::string_view name;
  std::string (*refusal)(const ScatterCall& call);  // why it cannot run; empty if it can
  TableStats (*run)(const ScatterCall& call);
};

std::string target_elsewhere(const Table& table) {
  return table.place() == TablePlace::kSharded ? std::string("the table is on several ranks")
         : table.place() == TablePlace::kDevice
             ? cat("the table is in memory of device ", table.source()->memory->device)
             : cat("the table is in ",
                   table.place() == TablePlace::kFile ? "a file" : "host memory");
}

// What the host does cannot be part of a graph.
std::string captured_scatter(const ScatterCall& call) {
  const StagingSteps* const steps = call.device == nullptr ? nullptr : call.device->device->staging;
  return steps != nullptr && steps->capturing(call.queue.stream)
             ? "the stream is being captured, and a graph cannot hold host threads"
             : std::string();
}

std::string refusal_of_host(const ScatterCall& call) {
  return call.table.place() == TablePlace::kHost ? captured_scatter(call)
                                                 : target_elsewhere(call.table);
}

std::string refusal_of_device(const ScatterCall& call) {
  if (call.table.place() != TablePlace::kDevice) {
    return target_elsewhere(call.table);
  }
  if (call.device == nullptr) {
    return "the queue runs on the host";
  }
  return call.table.source()->memory->device == call.device->name
             ? std::string()
             : cat("the queue runs on device ", call.device->name);
}

std::string refusal_of_upload(const ScatterCall& call) {
  return call.table.place() != TablePlace::kDevice ? target_elsewhere(call.table)
         : call.device != nullptr ? cat("the queue runs on device ", call.device->name)
                                  : std::string();
}

std::string refusal_of_file(const ScatterCall& call) {
  return call.table.place() == TablePlace::kFile ? captured_scatter(call)
                                                 : target_elsewhere(call.table);
}

constexpr ScatterWay kScatterWays[] = {
    {"host", refusal_of_host, scatter_on_host},
    {"device", refusal_of_device, scatter_on_device},
    {"upload", refusal_of_upload, scatter_by_upload},
    {"file", refusal_of_file, scatter_into_file},
};

const ScatterWay& way_of(const ScatterCall& call) {
  std::string refusals;
  for (const ScatterWay& way : kScatterWays) {
    const std::string refusal = way.refusal(call);
    if (refusal.empty()) {
      return way;
    }
    refusals += cat(refusals.empty() ? "" : "; ", way.name, ": ", refusal);
  }
  refuse_as(ErrorCode::kUnsupported, call.plan.request(), {Reason::kMemory, "data"},
            "no way to the rows", refusals, "explain(plan, table, queue), which lists the ways");
}

// The table is what the plan reads and writes, and may be written to.
void check_target(const Plan& plan, const Table& table) {
  if (!plan.is_scatter()) {
    refuse(plan.request(), {Reason::kPlan}, "plan of another operator",
           "this is a gather, but it was run as a scatter into a table", "a plan of a scatter");
  }
  if (table.info().encoded.encoding != Encoding::kPlain) {
    refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kMemory, "data"},
              "encoded rows are only read", cat("the table is ", table.info().encoded.str()),
              "a scatter into the decoded table");
  }
  if (table.place() == TablePlace::kSharded) {
    refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kMemory, "data"},
              "a sharded table is only read", "its rows are on several ranks",
              "plan_scatter of sheaf/sharded.h, then forget_cached_rows");
  }
  check_planned(plan, "data", table.spec(), plan.data());
  check_planned(plan, "output", table.spec(), plan.output());
  if (table.place() != TablePlace::kFile &&
      (!table.source()->memory || table.source()->memory->writes == nullptr)) {
    refuse(plan.request(), {Reason::kMemory, "data"}, "a table that is only read",
           "its memory was handed over as constant",
           table.place() == TablePlace::kHost ? "Table::host_writable" : "Table::device_writable");
  }
}

}  // namespace

std::vector<WayReport> scatter_ways(const ScatterCall& call) {
  std::vector<WayReport> reports;
  for (const ScatterWay& way : kScatterWays) {
    std::string refusal = way.refusal(call);
    const bool can_run = refusal.empty();
    reports.push_back({way.name, std::move(refusal), can_run});
  }
  return reports;
}

std::string explain_scatter(const ScatterCall& call) {
  std::string text = cat("updates of ", call.plan.nest().row_bytes, " bytes, by the way \"",
                         way_of(call).name, "\"\n");
  for (const WayReport& way : scatter_ways(call)) {
    text += cat("  ", way.name, ": ", way.refusal.empty() ? "takes the call" : way.refusal, "\n");
  }
  return text;
}

}  // namespace tables

void run_scatter(const Plan& plan, const Table& data, const void* indices, const void* updates,
                 const Queue& queue, IndexPlace place) {
  tables::check_target(plan, data);
  const tables::ScatterCall call{plan,    data,    queue, prepared_device(queue),
                                 indices, updates, place};
  const tables::ScatterWay& way = tables::way_of(call);
  check_indices_and_updates(plan, {nullptr, indices, updates, nullptr});
  TableStats stats = way.run(call);
  stats.calls = 1;
  stats.way = way.name;
  int64_t rows = plan.nest().empty() ? 0 : 1;
  for (const Loop& loop : plan.nest().loops) {
    rows *= loop.extent;
  }
  stats.rows_scattered = rows;
  data.state().add(stats);
}

}  // namespace sheaf
