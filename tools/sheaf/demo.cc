// SPDX-License-Identifier: MIT
//
// sheaf demo: the operators on small examples, drawn and compared, then an embedding lookup.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "command.h"
#include "demo_examples.h"
#include "machine/embedding.h"
#include "options.h"
#include "pictures/formula.h"
#include "pictures/operator_picture.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kDemoExamples = R"(Examples:
  sheaf demo
  sheaf demo --table-mib 1024
  sheaf demo --color always | less -R)";

struct DemoOptions {
  int64_t table_mib = 256;
  ColorChoice color = ColorChoice::kAuto;
};

// Draws the example and runs it; false if the result is not the expected one.
bool show_example(const Example& example, const pictures::Style& style) {
  const Problem problem = parse_problem(example.problem);
  const Plan plan = make_plan(problem.request);
  const std::vector<ElementSource> map =
      element_map(plan, {problem.indices->data(), plan.indices()});
  const std::string trouble = difference(example, run_example(problem));
  std::cout << "\n"
            << example.title << "\n  " << pictures::formula(plan.request()) << "\n\n"
            << pictures::draw_scene({plan, problem.data->data(), problem.indices->data(), map,
                                     problem.updates ? problem.updates->data() : nullptr},
                                    style)
            << (trouble.empty() ? "result       as documented\n"
                                : cat("result       WRONG: ", trouble, "\n"));
  return trouble.empty();
}

std::string gigabytes_per_second(double bytes_per_second) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB/s", bytes_per_second / 1e9);
  return text;
}

bool show_embedding(int64_t table_bytes) {
  const EmbeddingReport report = run_embedding(table_bytes);
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", report.copy_seconds / report.gather_seconds);
  std::cout << "\nEmbedding lookup: " << grouped(report.lookups) << " random rows of a table of "
            << grouped(report.rows) << " rows\n"
            << "  table        " << bytes_text(report.rows * report.row_bytes) << ", rows of "
            << report.row_bytes << " bytes\n"
            << "  moved        " << grouped(report.bytes_moved) << " bytes ("
            << bytes_text(report.bytes_moved) << ")\n"
            << "  kernel       " << report.kernel << "\n"
            << "  lookup       " << gigabytes_per_second(report.gather_bytes_per_second()) << "\n"
            << "  plain copy   " << gigabytes_per_second(report.copy_bytes_per_second())
            << "   (memcpy of as many bytes, one after the other)\n"
            << "  ratio        " << ratio << " of the copy's speed\n"
            << "  result       "
            << (report.trouble.empty() ? "every element checked and right"
                                       : cat("WRONG: ", report.trouble))
            << "\n";
  return report.trouble.empty();
}

int demo(const DemoOptions& options) {
  const pictures::Style style = style_for(options.color);
  const std::span<const Example> examples = demo_examples();
  std::cout << "Each picture: data (or updates), indices, output. "
            << (style.color ? "One colour is one index; faint elements are not used.\n"
                            : "Equal values show which element went where.\n");
  int wrong = 0;
  for (const Example& example : examples) {
    wrong += show_example(example, style) ? 0 : 1;
  }
  std::cout << std::flush;
  wrong += show_embedding(options.table_mib << 20U) ? 0 : 1;
  std::cout << "\n"
            << (wrong == 0 ? cat("all ", examples.size(), " examples and the lookup are right")
                           : cat(wrong, " of ", examples.size() + 1, " results are wrong"))
            << "\n";
  return wrong == 0 ? kSuccess : kDataError;
}

}  // namespace

void add_demo(CLI::App& app, Command& chosen) {
  static DemoOptions options;
  CLI::App* command = app.add_subcommand("demo", "Draw the operators, then time a lookup");
  command->footer(kDemoExamples);
  command->add_option("--table-mib", options.table_mib, "Size of the table in MiB (256)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20U).description(""))
      ->option_text("N");
  add_color_option(*command, options.color);
  command->callback([&chosen] { chosen = [] { return demo(options); }; });
}

}  // namespace sheaf::cli
