// SPDX-License-Identifier: MIT
#include "tables/ways.h"

#include <algorithm>
#include <cstdio>

#include "io/source.h"
#include "plan/refuse.h"
#include "support/text.h"
#include "tables/costs.h"
#include "tables/runs.h"
#include "tables/sharded_rows.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// From here on, kernels read rows of host memory as fast as the bus carries them; where nothing was
// measured.
constexpr int64_t kMappedRowBytes = 2048;

std::string gigabytes(double rate) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "%.1f GB/s", rate / 1e9));
  return text;
}

std::string place_of(const Table& table) {
  switch (table.place()) {
    case TablePlace::kFile: return "in a file";
    case TablePlace::kHost: return "in host memory";
    case TablePlace::kDevice: return cat("in memory of device ", table.source()->memory->device);
    case TablePlace::kSharded: return "on several ranks";
  }
  return {};
}

std::string table_elsewhere(const Call& call) { return cat("the table is ", place_of(call.table)); }

std::string queue_elsewhere(const Call& call) {
  return call.device == nullptr ? std::string("the queue runs on the host")
                                : cat("the queue runs on device ", call.device->name);
}

bool is_captured(const Call& call) {
  const StagingSteps* const steps = call.device == nullptr ? nullptr : call.device->device->staging;
  return steps != nullptr && steps->capturing(call.queue.stream);
}

std::string captured(const Call& call) {
  return is_captured(call) ? "the stream is being captured, and a graph cannot hold host threads"
                           : std::string();
}

// Kernels of a gather move rows as they are.
std::string encoded(const Call& call) {
  return call.encoded == nullptr ? std::string() : "the rows have to be decoded";
}

std::string host_refusal(const Call& call) {
  return call.table.place() != TablePlace::kHost ? table_elsewhere(call)
         : call.device != nullptr                ? queue_elsewhere(call)
                                                 : std::string();
}

std::string device_refusal(const Call& call) {
  const bool here = call.table.place() == TablePlace::kDevice && call.device != nullptr &&
                    call.table.source()->memory->device == call.device->name;
  if (here) {
    return encoded(call);
  }
  return call.table.place() == TablePlace::kDevice ? queue_elsewhere(call) : table_elsewhere(call);
}

std::string mapped_refusal(const Call& call) {
  if (call.table.place() != TablePlace::kHost) {
    return table_elsewhere(call);
  }
  if (call.device == nullptr) {
    return queue_elsewhere(call);
  }
  if (call.encoded != nullptr) {
    return encoded(call);
  }
  if (call.bag != nullptr && call.device->bag.empty()) {
    return cat("device ", call.device->name, " has no kernel for bags");
  }
  const StagingSteps* const steps = call.device->device->staging;
  if (steps == nullptr || steps->lock == nullptr) {
    return cat("device ", call.device->name, " reads no host memory");
  }
  return call.table.state().seen_by_device(call.table, *call.device)
             ? std::string()
             : "the table's memory is not locked";
}

std::string cached(const Call& call) {
  return call.table.state().options.cache_bytes > 0 && !is_captured(call)
             ? "rows are cached as they come in pieces"
             : std::string();
}

std::string ring_refusal(const Call& call) {
  return call.table.place() != TablePlace::kHost ? table_elsewhere(call)
         : call.device == nullptr                ? queue_elsewhere(call)
                                                 : captured(call);
}

// Both ways have to be able to run, on whole pieces of one call.
std::string split_refusal(const Call& call) {
  const std::string mapped = mapped_refusal(call);
  const std::string ring = ring_refusal(call);
  return !mapped.empty()       ? mapped
         : !ring.empty()       ? ring
         : call.bag != nullptr ? "the rows of a bag come by one way"
                               : cached(call);
}

RowRates rates(const Call& call) {
  return rates_of(*known_costs(call.device->name), call.plan.nest().row_bytes);
}

// "rows of 64 bytes: 2.0 GB/s, 8.5 GB/s in pieces"
std::string slower(const Call& call, double rate, double other, const char* by) {
  return cat("rows of ", call.plan.nest().row_bytes, " bytes: ", gigabytes(rate), ", ",
             gigabytes(other), " ", by);
}

std::string mapped_not_worth(const Call& call) {
  if (std::string refusal = cached(call); !refusal.empty() || is_captured(call)) {
    return refusal;
  }
  const RowRates measured = rates(call);
  if (measured.mapped > 0) {
    return measured.ring > measured.mapped
               ? slower(call, measured.mapped, measured.ring, "in pieces")
           : measured.split > measured.mapped && split_refusal(call).empty()
               ? slower(call, measured.mapped, measured.split, "split")
               : std::string();
  }
  const int64_t row_bytes = call.plan.nest().row_bytes;
  return row_bytes >= kMappedRowBytes ? std::string()
                                      : cat("rows of ", row_bytes, " bytes are faster in pieces");
}

std::string split_not_worth(const Call& call) {
  const RowRates measured = rates(call);
  if (measured.split == 0) {
    return "nothing was measured that speaks for it";
  }
  const double other = std::max(measured.mapped, measured.ring);
  return measured.split > other ? std::string() : slower(call, measured.split, other, "by one way");
}

std::string file_refusal(const Call& call) {
  return call.table.place() != TablePlace::kFile ? table_elsewhere(call) : captured(call);
}

std::string download_refusal(const Call& call) {
  return call.table.place() != TablePlace::kDevice ? table_elsewhere(call)
         : call.device != nullptr                  ? queue_elsewhere(call)
         : call.bag != nullptr                     ? "the rows of bags are pooled on the device"
                                                   : encoded(call);
}

// Ranks send rows whole.
std::string sharded_refusal(const Call& call) {
  const Nest& nest = call.plan.nest();
  const int64_t row_bytes = call.table.source()->shards->row_bytes();
  return !nest.empty() && nest.row_bytes % row_bytes != 0
             ? cat("rows of ", nest.row_bytes, " bytes are parts of the table's, of ", row_bytes,
                   "; ranks send whole ones")
             : captured(call);
}

constexpr Way kWays[] = {
    {"host", host_refusal, nullptr, run_on_host},
    {"device", device_refusal, nullptr, run_on_device},
    {"mapped", mapped_refusal, mapped_not_worth, run_mapped},
    {"split", split_refusal, split_not_worth, run_split},
    {"ring", ring_refusal, nullptr, run_ring},
    {"file", file_refusal, nullptr, run_file},
    {"download", download_refusal, nullptr, run_download},
};
constexpr Way kShardedWays[] = {{"sharded", sharded_refusal, nullptr, run_sharded}};

[[noreturn]] void refuse_ways(const Call& call, std::string_view forced) {
  std::string refusals;
  for (const Way& way : ways_of(call.table)) {
    if (forced.empty() || way.name == forced) {
      refusals += cat(refusals.empty() ? "" : "; ", way.name, ": ", way.refusal(call));
    }
  }
  refuse_as(ErrorCode::kUnsupported, call.plan.request(), {Reason::kOption}, "no way to the rows",
            refusals.empty() ? cat("\"", forced, "\" names no way") : refusals,
            "explain(plan, table, queue), which lists the ways");
}

}  // namespace

std::span<const Way> ways_of(const Table& table) {
  return table.place() == TablePlace::kSharded ? std::span<const Way>(kShardedWays) : kWays;
}

std::string decided_by(const Call& call) {
  if (!call.table.state().options.way.empty() || !mapped_refusal(call).empty() ||
      is_captured(call) || !cached(call).empty()) {
    return {};
  }
  const RowRates measured = rates(call);
  if (measured.mapped > 0) {
    return cat("  measured here: mapped ", gigabytes(measured.mapped), ", split ",
               gigabytes(measured.split), ", ring ", gigabytes(measured.ring), "\n");
  }
  return cat("  decided by the limit of ", kMappedRowBytes,
             " bytes: ", known_costs(call.device->name)->note, " (sheaf doctor --measure does)\n");
}

std::string answer(const Way& way, const Call& call) {
  std::string refusal = way.refusal(call);
  if (refusal.empty() && way.not_worth != nullptr) {
    refusal = way.not_worth(call);
  }
  return refusal;
}

const Way* find_way(const Call& call) {
  const std::string& forced = call.table.state().options.way;
  for (const Way& way : ways_of(call.table)) {
    const bool takes = forced.empty() ? answer(way, call).empty()
                                      : way.name == forced && way.refusal(call).empty();
    if (takes) {
      return &way;
    }
  }
  return nullptr;
}

const Way& choose_way(const Call& call) {
  const Way* const found = find_way(call);
  if (found == nullptr) {
    refuse_ways(call, call.table.state().options.way);
  }
  return *found;
}

}  // namespace sheaf::tables
