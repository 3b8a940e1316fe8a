// SPDX-License-Identifier: MIT
//
// sheaf doctor: what this build is, what it runs on, and whether it works.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "command.h"
#include "files/launched.h"
#include "machine/machine.h"
#include "machine/terminal.h"
#include "sheaf/sheaf.h"
#include "sheaf/vulkan.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kDoctorExamples = R"(Examples:
  sheaf doctor
  sheaf doctor --json | jq .backends
  sheaf doctor --measure)";

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kBuild = "with sanitizers";
#elif defined(__OPTIMIZE__)
constexpr const char* kBuild = "optimised";
#else
constexpr const char* kBuild = "not optimised";
#endif

// What became of one small gather.
struct BackendReport {
  std::string name;
  std::string trouble;           // empty: none
  std::string description = {};  // of a device
  bool available = true;
  std::string kernel_cache = {};  // where compiled kernels are kept, if they are
  TableCosts costs = {};          // of rows of tables in host memory
};

// One small gather: rows of a table, forwards, backwards and from the end. `run(plan, table, rows,
// output)` does it; returns what went wrong.
template <class Run>
std::string try_gather(Run run) {
  constexpr int64_t kRows = 1000, kWidth = 16;
  std::vector<int32_t> table(static_cast<size_t>(kRows * kWidth));
  std::iota(table.begin(), table.end(), 0);
  const std::vector<int64_t> rows = {0, 999, 7, -1, 7, -1000};
  std::vector<int32_t> got(rows.size() * kWidth);
  try {
    run(plan_gather(view(table, {kRows, kWidth}).spec, view(rows).spec), table, rows, got);
  } catch (const Error& error) {
    return error.what();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const int64_t row = rows[i / kWidth] < 0 ? rows[i / kWidth] + kRows : rows[i / kWidth];
    const int64_t expected = row * kWidth + static_cast<int64_t>(i % kWidth);
    if (got[i] != expected) {
      return cat("output element ", i, " is ", got[i], ", expected ", expected);
    }
  }
  return "";
}

std::vector<BackendReport> try_backends() {
  std::vector<BackendReport> reports;
  for (const std::string& name : backend_names()) {
    reports.push_back(
        {name, try_gather([&](const Plan& plan, const auto& table, const auto& rows, auto& output) {
           plan.run(table.data(), rows.data(), output.data(), {.threads = 0, .kernel = name});
         })});
  }
  return reports;
}

// A device that is not there is no trouble.
BackendReport try_device(const std::string& name) {
  BackendReport report{name, "", device_description(name), device_available(name)};
  if (!report.available) {
    return report;
  }
  const auto bytes = [](const auto& values) { return values.size() * sizeof values[0]; };
  report.trouble =
      try_gather([&](const Plan& plan, const auto& table, const auto& rows, auto& output) {
        DeviceMemory data(name, bytes(table));
        DeviceMemory indices(name, bytes(rows));
        const DeviceMemory result(name, bytes(output));
        data.upload(table.data(), data.bytes());
        indices.upload(rows.data(), indices.bytes());
        const DeviceMemory workspace(name, workspace_bytes(plan, {.device = name}));
        const Queue queue{.device = name, .workspace = workspace};
        run(plan, data.data(), indices.data(), result.data(), queue);
        finish(plan, queue);
        result.download(output.data(), result.bytes());
      });
  if (name == vulkan::kDevice) {
    report.kernel_cache = vulkan::Device::own().kernel_cache();
  }
  return report;
}

std::vector<BackendReport> try_devices(bool measure) {
  std::vector<BackendReport> reports;
  for (const std::string& name : device_names()) {
    BackendReport report = try_device(name);
    if (report.available && report.trouble.empty()) {
      report.costs = measure ? measure_table_costs(name) : table_costs(name);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string gigabytes_text(double rate) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << rate / 1e9;
  return text.str();
}

// One line for each size of rows: the ways, and the one that is taken.
std::vector<std::string> costs_lines(const TableCosts& costs) {
  std::vector<std::string> lines;
  if (costs.rows.empty()) {
    lines.push_back(costs.note);
    return lines;
  }
  lines.push_back(cat("GB/s of rows from host memory; a copy has ", gigabytes_text(costs.copy_rate),
                      costs.note.empty() ? "" : "; ", costs.note));
  for (const RowRates& row : costs.rows) {
    lines.push_back(cat("rows of ", row.row_bytes, " bytes: mapped ", gigabytes_text(row.mapped),
                        ", split ", gigabytes_text(row.split), ", ring ",
                        gigabytes_text(row.ring)));
  }
  return lines;
}

nlohmann::ordered_json costs_json(const TableCosts& costs) {
  auto rows = nlohmann::ordered_json::array();
  for (const RowRates& row : costs.rows) {
    rows.push_back({{"row_bytes", row.row_bytes},
                    {"mapped", row.mapped},
                    {"split", row.split},
                    {"ring", row.ring}});
  }
  return {{"copy_rate", costs.copy_rate}, {"rows", std::move(rows)}, {"note", costs.note}};
}

std::string kernel_override() {
  const char* forced = std::getenv("SHEAF_KERNEL");
  return forced == nullptr ? "" : printable(forced);
}

void print_text(const Machine& machine, const std::vector<BackendReport>& backends,
                const std::vector<BackendReport>& devices) {
  const auto line = [](const char* key, const std::string& value) {
    std::cout << "  " << key << std::string(14 - std::string_view(key).size(), ' ') << value
              << "\n";
  };
  std::string features;
  for (const std::string& feature : machine.features) {
    features += (features.empty() ? "" : " ") + feature;
  }
  std::cout << "sheaf " << SHEAF_VERSION << "\n";
  line("compiler", cat(kCompiler, ", C++", __cplusplus / 100 % 100, ", ", kBuild));
  line("system", machine.system);
  line("cpu", cat(machine.architecture, machine.cpu.empty() ? "" : ", ", machine.cpu));
  line("features", features.empty() ? "none that matter" : features);
  line("threads", std::to_string(machine.threads));
  line("memory", bytes_text(memory_bytes()));
  const auto verdict = [](const BackendReport& r) {
    return cat(r.name, r.trouble.empty() ? "   works" : "   FAILS: ", r.trouble);
  };
  for (const BackendReport& backend : backends) {
    line("backend", verdict(backend));
  }
  for (const BackendReport& device : devices) {
    line("device",
         cat(device.available ? verdict(device) : device.name, "   ", device.description));
    if (!device.kernel_cache.empty()) {
      line("kernels kept", device.kernel_cache);
    }
    if (device.available && device.trouble.empty()) {
      for (const std::string& text : costs_lines(device.costs)) {
        line("tables", text);
      }
    }
  }
  if (devices.empty()) {
    line("device", "none in this build");
  }
  line("mpi", mpi_description());
  if (const std::string forced = kernel_override(); !forced.empty()) {
    line("SHEAF_KERNEL", forced + "   (every call is sent there)");
  }
}

void print_json(const Machine& machine, const std::vector<BackendReport>& backends,
                const std::vector<BackendReport>& devices) {
  auto list = nlohmann::ordered_json::array();
  for (const BackendReport& backend : backends) {
    list.push_back(
        {{"name", backend.name}, {"works", backend.trouble.empty()}, {"trouble", backend.trouble}});
  }
  auto device_list = nlohmann::ordered_json::array();
  for (const BackendReport& device : devices) {
    device_list.push_back({{"name", device.name},
                           {"description", device.description},
                           {"available", device.available},
                           {"works", device.available && device.trouble.empty()},
                           {"trouble", device.trouble},
                           {"kernel_cache", device.kernel_cache},
                           {"table_costs", costs_json(device.costs)}});
  }
  const nlohmann::ordered_json json = {{"version", SHEAF_VERSION},
                                       {"compiler", kCompiler},
                                       {"build", kBuild},
                                       {"system", machine.system},
                                       {"architecture", machine.architecture},
                                       {"cpu", machine.cpu},
                                       {"features", machine.features},
                                       {"threads", machine.threads},
                                       {"memory_bytes", memory_bytes()},
                                       {"backends", std::move(list)},
                                       {"devices", std::move(device_list)},
                                       {"mpi", mpi_description()},
                                       {"kernel_override", kernel_override()}};
  std::cout << json.dump(2) << "\n";
}

int doctor(bool json, bool measure) {
  const std::vector<BackendReport> backends = try_backends();
  const std::vector<BackendReport> devices = try_devices(measure);
  json ? print_json(this_machine(), backends, devices)
       : print_text(this_machine(), backends, devices);
  const auto healthy = [](const std::vector<BackendReport>& reports) {
    return std::all_of(reports.begin(), reports.end(),
                       [](const BackendReport& report) { return report.trouble.empty(); });
  };
  return healthy(backends) && healthy(devices) ? kSuccess : kDataError;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  static bool json = false, measure = false;
  CLI::App* command = app.add_subcommand("doctor", "Report what this build can use, and try it");
  command->footer(kDoctorExamples);
  command->add_flag("--json", json, "Print a JSON object");
  command->add_flag("--measure", measure,
                    "Measure how fast each device is fed from host memory, and keep that");
  command->callback([&chosen] { chosen = [] { return doctor(json, measure); }; });
}

}  // namespace sheaf::cli
