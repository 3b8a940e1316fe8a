// SPDX-License-Identifier: MIT
//
// What rows cost by the ways that compete: random rows of a table in locked host memory.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "execution/launch.h"
#include "plan/refuse.h"
#include "support/text.h"
#include "support/user_cache.h"
#include "tables/costs.h"

namespace sheaf {
namespace tables {
namespace {

constexpr int64_t kSmallestRow = 64, kLargestRow = 8192;
constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;  // of row numbers: they look random

double best_seconds(int repeats, const std::function<void()>& work) {
  work();  // allocates
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return std::max(best, 1e-9);
}

class Measurement {
 public:
  Measurement(std::string_view device, const MeasureOptions& options)
      : device_(device),
        options_(options),
        memory_(TensorSpec(u8, {options.table_bytes})),
        output_(device, static_cast<size_t>(options.moved_bytes)),
        locked_(Table::host(std::as_const(memory_).tensor(), nullptr).with({.lock = true})) {
    std::memset(memory_.tensor().data, 1, static_cast<size_t>(options.table_bytes));
  }

  double copy_rate(const StagingSteps& steps) const {
    const auto bytes = static_cast<size_t>(options_.moved_bytes);
    void* const pinned = steps.allocate(bytes);
    if (pinned == nullptr) {
      return 0;
    }
    const double seconds = best_seconds(options_.repeats, [&] {
      steps.copy(output_.data(), pinned, bytes, nullptr);
      wait({.device = device_});
    });
    steps.release(pinned);
    return static_cast<double>(bytes) / seconds;
  }

  // Whether a kernel can read the memory.
  bool can_be_mapped() const {
    const TensorSpec spec(u8, {options_.table_bytes});
    const std::vector<WayReport> ways =
        table_ways(plan_gather(spec, TensorSpec(i64, {1})), locked_, {.device = device_});
    return std::ranges::find(ways, "mapped", &WayReport::name)->can_run;
  }

  double rate(const char* way, int64_t row_bytes) const {
    const TensorSpec spec(u8, {options_.table_bytes / row_bytes, row_bytes});
    const int64_t points = options_.moved_bytes / row_bytes;
    const Plan plan = plan_gather(spec, TensorSpec(i64, {points}));
    std::vector<int64_t> ids(static_cast<size_t>(points));
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<int64_t>(((i + 1) * kStep >> 20) % static_cast<uint64_t>(spec.sizes[0]));
    }
    DeviceMemory indices(device_, ids.size() * sizeof ids[0]);
    indices.upload(ids.data(), indices.bytes());
    const Queue queue{.device = device_};
    const Table table =
        Table::host({memory_.tensor().data, spec}, nullptr).with({.way = way, .lock = true});
    const double seconds = best_seconds(options_.repeats, [&] {
      run(plan, table, indices.data(), output_.data(), queue);
      finish(plan, table, queue);
    });
    return static_cast<double>(points * row_bytes) / seconds;
  }

 private:
  std::string_view device_;
  const MeasureOptions& options_;
  Array memory_;
  DeviceMemory output_;
  Table locked_;  // as long as it is there, the memory stays so
};

void check_measure_options(std::string_view device, const MeasureOptions& options) {
  if (options.table_bytes < kLargestRow || options.moved_bytes < kLargestRow ||
      options.repeats < 1) {
    throw Error(Refusal{.cause = {Reason::kOption},
                        .who = "table",
                        .what = "impossible options",
                        .detail = cat("table_bytes ", options.table_bytes, ", moved_bytes ",
                                      options.moved_bytes, " (8192 or more), repeats ",
                                      options.repeats, " (1 or more) to measure ", device),
                        .next = "the defaults of MeasureOptions"});
  }
}

}  // namespace
}  // namespace tables

TableCosts measure_table_costs(std::string_view device, const MeasureOptions& options) {
  tables::check_measure_options(device, options);
  TableCosts costs;
  costs.device = device;
  costs.machine = tables::machine_of(device);
  const Backend* const backend = prepared_device({.device = device});
  if (backend == nullptr || backend->device->staging == nullptr ||
      backend->device->staging->lock == nullptr) {
    costs.note = "there is nothing to choose from: the device reads no host memory";
    return costs;
  }
  tables::Measurement measurement(device, options);
  costs.copy_rate = measurement.copy_rate(*backend->device->staging);
  if (costs.copy_rate == 0 || !measurement.can_be_mapped()) {
    costs.note = "host memory could not be locked";
    return costs;
  }
  for (int64_t row = tables::kSmallestRow; row <= tables::kLargestRow; row *= 2) {
    costs.rows.push_back({row, measurement.rate("mapped", row), measurement.rate("ring", row), 0});
  }
  tables::set_known_costs(costs);  // they say how much goes by either way of a split
  for (RowRates& rates : costs.rows) {
    rates.split = measurement.rate("split", rates.row_bytes);
  }
  tables::set_known_costs(costs);
  const std::string path = table_costs_file(device);
  if (path.empty()) {
    costs.note = "not kept: neither XDG_CACHE_HOME nor HOME names a folder";
  } else if (!replace_user_file(path, tables::text_of(costs))) {
    costs.note = cat("not kept: ", path, " cannot be written");
  }
  return costs;
}

}  // namespace sheaf
