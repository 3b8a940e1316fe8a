// SPDX-License-Identifier: MIT
//
// sheaf bench: how long a problem takes, and how far that is from the machine's copy rate.
#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "command.h"
#include "machine/machine.h"
#include "machine/terminal.h"
#include "plan/lower.h"
#include "plan/resolve.h"
#include "problem/problem.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kBenchExamples = R"(Examples:
  sheaf bench 'gather f32[1000000,64] i64[4096] axis=0'
  sheaf bench 'gather_elements f32[4096,4096] i64[4096,4096] axis=0' --threads 1
  sheaf bench 'gather f32[1000000,4] i64[1000000]' --kernel reference --json
  sheaf bench 'scatter f32[1000000,64] i64[4096] axis=0 reduction=add'

Indices that are not given are uniformly random. Bytes moved are those of the indices, plus the rows
read, plus the rows written; the copy rate counts bytes read and written too. A scatter is run in
place: its rows are those of the updates, and those of the output, which a reduction reads as well.)";

// The copy is large enough to leave the caches, as the data of a benchmark should be.
constexpr int64_t kCopyBytes = int64_t{256} << 20U;

struct BenchOptions {
  std::string problem;
  int threads = 0;
  std::string kernel;
  double seconds = 1.0;
  bool json = false;
};

struct BenchReport {
  std::string problem, kernel;
  int threads = 0;
  int64_t bytes_moved = 0, rows = 0;
  Timing warm{}, cold{};
  double copy_rate = 0;

  double share(const Timing& timing) const {
    return static_cast<double>(bytes_moved) / timing.best / copy_rate;
  }
};

// Uniformly random entries of each component's axis.
template <class Index>
void fill_indices(const Plan& plan, std::byte* memory) {
  const TensorSpec& spec = plan.indices();
  const int tuple = tuple_dim(plan.request());
  const int64_t count = element_count(spec.sizes);
  int64_t after_tuple = 1;  // elements from one component of a tuple to the next
  for (int d = tuple + 1; tuple >= 0 && d < spec.rank(); ++d) {
    after_tuple *= spec.sizes[d];
  }
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t component = tuple < 0 ? 0 : i / after_tuple % spec.sizes[tuple];
    const auto extent =
        static_cast<uint64_t>(plan.nest().coordinates[static_cast<int>(component)].extent);
    const auto largest = static_cast<uint64_t>(std::numeric_limits<Index>::max());
    const auto value =
        static_cast<Index>(random() % std::max(uint64_t{1}, std::min(extent, largest)));
    std::memcpy(memory + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
  }
}

Array make_indices(const Plan& plan, const Problem& problem) {
  Array indices(plan.indices());
  auto* memory = static_cast<std::byte*>(indices.tensor().data);
  if (problem.indices) {
    std::copy(problem.indices->begin(), problem.indices->end(), memory);
  } else {
    with_index_type(plan.indices().dtype,
                    [&](auto zero) { fill_indices<decltype(zero)>(plan, memory); });
  }
  return indices;
}

int64_t moved_rows(const Nest& nest) {
  int64_t rows = 1;
  for (const Loop& loop : nest.loops) {
    rows *= loop.extent;
  }
  return rows;
}

Array filled(const TensorSpec& spec) {
  Array array(spec);
  // Written once, so that no page is shared or missing while the clock runs.
  std::memset(array.tensor().data, 1,
              static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes()));
  return array;
}

int64_t bytes_of(const TensorSpec& spec) { return element_count(spec.sizes) * spec.dtype.bytes(); }

// Rows are read and written; what a reduction changes is read too, and zeros are written first.
int64_t moved_bytes(const Plan& plan, int64_t rows) {
  const Request& r = plan.request();
  const int64_t passes = r.reduction == Reduction::kNone ? 2 : 3;
  return passes * rows * plan.nest().row_bytes + bytes_of(plan.indices()) +
         (r.onto_zeros ? bytes_of(plan.output()) : 0);
}

BenchReport measure(const BenchOptions& options) {
  const Problem problem = parse_problem(options.problem);
  const Plan plan = make_plan(problem.request);
  const RunOptions run{.threads = options.threads, .kernel = options.kernel};
  // A gather reads data, a scatter its updates; the other tensor is the output.
  const Array input = filled(plan.is_scatter() ? plan.updates() : plan.data());
  const Array indices = make_indices(plan, problem);
  Array output = filled(plan.output());

  BenchReport report;
  report.problem = options.problem;
  report.kernel = kernel_name(plan, run);
  const int available = this_machine().threads;
  report.threads = options.threads > 0 ? std::min(options.threads, available) : available;
  report.rows = moved_rows(plan.nest());
  report.bytes_moved = moved_bytes(plan, report.rows);
  const void* from = input.tensor().data;
  const void* where = indices.tensor().data;
  void* to = output.tensor().data;
  const auto work = [&] {
    plan.is_scatter() ? plan.run(to, where, from, to, run) : plan.run(from, where, to, run);
  };
  report.warm = time_rounds({.seconds = options.seconds}, work);
  report.cold = time_rounds({.seconds = options.seconds / 4, .cold = true}, work);
  report.copy_rate = copy_rate(kCopyBytes, report.threads);
  return report;
}

std::string seconds_text(double seconds) {
  const char* const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (seconds < 1 && unit < 3) {
    seconds *= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", seconds, units[unit]);
  return text;
}

void print_text(const BenchReport& report) {
  std::cout << report.problem << "\n"
            << "  kernel       " << report.kernel << ", up to "
            << counted(report.threads, "thread", "threads") << "\n"
            << "  moves        " << grouped(report.bytes_moved) << " bytes in "
            << grouped(report.rows) << (report.rows == 1 ? " row\n" : " rows\n");
  const auto line = [&](const char* name, const Timing& timing) {
    char rate[96];
    std::snprintf(rate, sizeof rate, "%.2f GB/s, %.1f %% of the copy rate",
                  static_cast<double>(report.bytes_moved) / timing.best / 1e9,
                  100 * report.share(timing));
    std::cout << "  " << name << "         best " << seconds_text(timing.best) << ", median "
              << seconds_text(timing.median) << " of " << timing.rounds << "; " << rate << "\n";
  };
  line("warm", report.warm);
  line("cold", report.cold);
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2f GB/s", report.copy_rate / 1e9);
  std::cout << "  copy rate    " << rate << "\n";
}

void print_json(const BenchReport& report) {
  const auto timing = [&](const Timing& t) {
    return nlohmann::ordered_json{{"best_s", t.best},
                                  {"median_s", t.median},
                                  {"rounds", t.rounds},
                                  {"share_of_copy_rate", report.share(t)}};
  };
  const nlohmann::ordered_json json = {
      {"problem", report.problem},   {"kernel", report.kernel},
      {"threads", report.threads},   {"bytes_moved", report.bytes_moved},
      {"rows", report.rows},         {"warm", timing(report.warm)},
      {"cold", timing(report.cold)}, {"copy_bytes_per_s", report.copy_rate}};
  std::cout << json.dump(2) << "\n";
}

int bench(const BenchOptions& options) {
  const BenchReport report = measure(options);
  options.json ? print_json(report) : print_text(report);
  return kSuccess;
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  static BenchOptions options;
  CLI::App* command = app.add_subcommand("bench", "Time a problem, beside a plain copy");
  command->footer(kBenchExamples);
  command->add_option("PROBLEM", options.problem, "The problem to time, as in sheaf explain")
      ->required();
  command
      ->add_option("--threads", options.threads, "Use at most N threads (default: as many as help)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--kernel", options.kernel, "Force a kernel or a backend")
      ->option_text("NAME");
  command->add_option("--seconds", options.seconds, "Repeat for this many seconds (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command->add_flag("--json", options.json, "Print a JSON object");
  command->callback([&chosen] { chosen = [] { return bench(options); }; });
}

}  // namespace sheaf::cli
