// SPDX-License-Identifier: MIT
//
// sheaf doctor: what this build is, what it runs on, and whether it works.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command.h"
#include "device/device_memory.h"
#include "machine.h"
#include "sheaf/cuda.h"
#include "sheaf/sheaf.h"
#include "support/text.h"
#include "terminal.h"

namespace sheaf::cli {
namespace {

constexpr const char* kDoctorExamples = R"(Examples:
  sheaf doctor
  sheaf doctor --json | jq .backends)";

constexpr const char* kNotBuilt = "not built in this version";

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
  std::string name;     // of the GPU: its description
  std::string trouble;  // empty: none
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
BackendReport try_cuda() {
  if (!cuda::available()) {
    return {cuda::description(), ""};
  }
  const auto bytes = [](const auto& values) { return values.size() * sizeof values[0]; };
  return {cuda::description(),
          try_gather([&](const Plan& plan, const auto& table, const auto& rows, auto& output) {
            DeviceMemory data(bytes(table));
            DeviceMemory indices(bytes(rows));
            const DeviceMemory result(bytes(output));
            data.upload(table.data(), data.bytes());
            indices.upload(rows.data(), indices.bytes());
            const cuda::Workspace workspace(plan);
            cuda::run(plan, data.data(), indices.data(), result.data(), workspace);
            cuda::check(plan, workspace);
            result.download(output.data(), result.bytes());
          })};
}

std::string kernel_override() {
  const char* forced = std::getenv("SHEAF_KERNEL");
  return forced == nullptr ? "" : printable(forced);
}

void print_text(const Machine& machine, const std::vector<BackendReport>& backends,
                const BackendReport& device) {
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
  line("memory", mebibytes(memory_bytes()));
  const auto verdict = [](const BackendReport& r) {
    return cat(r.name, r.trouble.empty() ? "   works" : "   FAILS: ", r.trouble);
  };
  for (const BackendReport& backend : backends) {
    line("backend", verdict(backend));
  }
  line("cuda", cuda::available() ? verdict(device) : device.name);
  line("mpi", kNotBuilt);
  if (const std::string forced = kernel_override(); !forced.empty()) {
    line("SHEAF_KERNEL", forced + "   (every call is sent there)");
  }
}

void print_json(const Machine& machine, const std::vector<BackendReport>& backends,
                const BackendReport& device) {
  auto list = nlohmann::ordered_json::array();
  for (const BackendReport& backend : backends) {
    list.push_back(
        {{"name", backend.name}, {"works", backend.trouble.empty()}, {"trouble", backend.trouble}});
  }
  nlohmann::ordered_json cuda_json = {{"description", device.name},
                                      {"available", cuda::available()},
                                      {"works", cuda::available() && device.trouble.empty()},
                                      {"trouble", device.trouble}};
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
                                       {"cuda", std::move(cuda_json)},
                                       {"mpi", kNotBuilt},
                                       {"kernel_override", kernel_override()}};
  std::cout << json.dump(2) << "\n";
}

int doctor(bool json) {
  const std::vector<BackendReport> backends = try_backends();
  const BackendReport device = try_cuda();
  json ? print_json(this_machine(), backends, device)
       : print_text(this_machine(), backends, device);
  const bool healthy = std::all_of(backends.begin(), backends.end(),
                                   [](const BackendReport& b) { return b.trouble.empty(); });
  return healthy && device.trouble.empty() ? kSuccess : kDataError;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  static bool json = false;
  CLI::App* command = app.add_subcommand("doctor", "Show and try what this build can use");
  command->footer(kDoctorExamples);
  command->add_flag("--json", json, "Print a JSON object instead");
  command->callback([&chosen] { chosen = [] { return doctor(json); }; });
}

}  // namespace sheaf::cli
