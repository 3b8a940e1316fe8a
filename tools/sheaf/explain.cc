// SPDX-License-Identifier: MIT
//
// sheaf explain: what a call does, how it is planned, and who runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "example_indices.h"
#include "explain_kernels.h"
#include "formula.h"
#include "gather_picture.h"
#include "options.h"
#include "plan/refuse.h"
#include "plan/scalar.h"
#include "problem/problem.h"
#include "scatter_picture.h"
#include "sheaf/error.h"
#include "support/text.h"
#include "svg.h"

namespace sheaf::cli {
namespace {

// Element maps above this size are not made: 16 bytes an element.
constexpr int64_t kMaxMapElements = 1 << 20;

constexpr const char* kExplainExamples =
    R"(PROBLEM is operator, data, indices, attributes; a scatter has its updates after indices:
  gather f32[5,2] i64[3] axis=0
  scatter f32[5,2] i64[3] f32[3,2] axis=0 reduction=add
Values in braces after a tensor are used in the picture; quote them, or the shell expands them.

Examples:
  sheaf explain 'gather f32[4]={11,12,13,14} u32[5]={3,1,3,0,2}'
  sheaf explain 'gather_elements f32[3,3] i64[2,3]={1,2,0,2,0,0} axis=0' --map
  sheaf explain 'gather_nd f32[2,2,2] i32[2,2]={{0,1},{1,0}}'
  sheaf explain 'gather f32[1000000,64] i64[4096] axis=0' --kernels
  sheaf explain 'gather f32[5,2] i64[2]={4,9} out_of_range=fill fill_value=-1' --json
  sheaf explain 'scatter_elements f32[5]={0,1,2,3,4} i64[4]={3,1,3,0} f32[4]={5,6,7,8}'
  sheaf explain 'scatter f32[3,2] i64[4]={2,0,9,2} reduction=add out_of_range=skip' --map)";

struct ExplainOptions {
  std::vector<std::string> words;
  bool json = false;
  bool map = false;
  bool kernels = false;
  std::string svg;
  int64_t limit = 64;
  ColorChoice color = ColorChoice::kAuto;
};

// Everything there is to say about a problem.
struct Explanation {
  Problem problem;
  Plan plan;
  bool made_up;                    // the indices are ours, for want of given ones
  std::vector<ElementSource> map;  // where there are indices, and not too many
};

bool small_enough(const Plan& plan) {
  return element_count(plan.request().grid().sizes) <= kMaxMapElements;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::string rule_text(const IndexRule& rule) {
  std::string text = rule.negative == Negative::kFromEnd ? "negative indices count from the end"
                                                         : "negative indices are out of range";
  text += cat("; out of range: ", to_string(rule.out_of_range));
  return rule.out_of_range == OutOfRange::kFill ? text + " with " + to_string(rule.fill_value)
                                                : text;
}

void print_map(const Explanation& e, int64_t limit) {
  const Scene scene{e.plan, nullptr, *e.problem.indices, e.map};
  const auto count = static_cast<int64_t>(e.map.size());
  std::cout << "\nelement map\n";
  for (int64_t element = 0; element < std::min(count, limit); ++element) {
    std::cout << "  " << describe_element(scene, element) << "\n";
  }
  if (count > limit) {
    std::cout << "  … " << grouped(count - limit) << " more; --limit shows them\n";
  }
}

void print_picture(const Explanation& e, const Style& style) {
  if (!e.problem.indices) {
    std::cout << "\nno picture: give indices values, as in i64[4]={3,1,0,2}\n";
    return;
  }
  if (!small_enough(e.plan)) {
    std::cout << "\nno picture: the " << (e.plan.is_scatter() ? "updates have " : "output has ")
              << grouped(element_count(e.plan.request().grid().sizes)) << " elements, more than "
              << grouped(kMaxMapElements) << "\n";
    return;
  }
  const Literal* data = e.problem.data ? &*e.problem.data : nullptr;
  const Literal* updates = e.problem.updates ? &*e.problem.updates : nullptr;
  std::cout << "\n" << draw_scene({e.plan, data, *e.problem.indices, e.map, updates}, style);
  if (e.made_up) {
    std::cout << "(these indices are made up; give your own as in i64[4]={3,1,0,2})\n";
  }
}

int64_t moved_bytes(const Plan& plan) {
  return element_count(plan.request().grid().sizes) * plan.output().dtype.bytes();
}

void print_text(const Explanation& e, const ExplainOptions& options) {
  const Request& r = e.plan.request();
  std::cout << to_string(r.op) << ": " << summary(r.op) << "\n"
            << "  " << formula(r) << "\n"
            << "  " << describe(r) << "\n"
            << "  " << rule_text(r.rule) << "\n";
  print_picture(e, style_for(options.color));
  if (options.map && !e.map.empty()) {
    print_map(e, options.limit);
  }
  std::cout << "\nplan (moves " << grouped(moved_bytes(e.plan)) << " bytes)\n";
  std::string plan = cat("  ", e.plan.str());
  for (size_t at = plan.find('\n'); at + 1 < plan.size(); at = plan.find('\n', at + 1)) {
    plan.insert(at + 1, "  ");
  }
  std::cout << plan;
  std::cout << "\n" << kernel_lines(e.plan, options.kernels);
}

// Where the elements of the output come from, or the updates go to; null for nowhere.
nlohmann::ordered_json map_json(const Explanation& e, int64_t limit) {
  using Json = nlohmann::ordered_json;
  Json map = Json::array();
  for (const ElementSource& source : e.map) {
    if (static_cast<int64_t>(map.size()) == limit) {
      break;
    }
    map.push_back(Json{{e.plan.is_scatter() ? "output" : "data",
                        source.data == kFilled ? Json() : Json(source.data)},
                       {"index", source.index == kNoIndex ? Json() : Json(source.index)}});
  }
  return map;
}

nlohmann::ordered_json reports_json(const std::vector<KernelReport>& reports) {
  auto list = nlohmann::ordered_json::array();
  for (const KernelReport& report : reports) {
    list.push_back({{"name", report.name}, {"refusal", report.refusal}});
  }
  return list;
}

void print_json(const Explanation& e, const ExplainOptions& options) {
  const Request& r = e.plan.request();
  nlohmann::ordered_json json = {{"op", to_string(r.op)},
                                 {"formula", formula(r)},
                                 {"bytes_moved", moved_bytes(e.plan)},
                                 {"plan", nlohmann::ordered_json::parse(e.plan.json())},
                                 {"kernel", kernel_name(e.plan)}};
  json["kernels"] = reports_json(kernels_for(e.plan));
  for (const std::string& device : device_names()) {
    const std::vector<KernelReport> reports = kernels_for(e.plan, {.device = device});
    json["devices"][device] = {{"kernel", first_accepting(reports)},
                               {"kernels", reports_json(reports)}};
  }
  if (e.problem.indices && !e.made_up && small_enough(e.plan)) {
    json["map"] = map_json(e, options.limit);
    json["map_left_out"] = std::max<int64_t>(0, std::ssize(e.map) - options.limit);
  }
  std::cout << json.dump(2) << "\n";
}

// Draws what can be drawn of a call with bad indices; the error itself goes the way of all errors.
void print_bad_indices(const Explanation& e, const ExplainOptions& options) {
  if (!options.json) {
    const Literal* data = e.problem.data ? &*e.problem.data : nullptr;
    std::cout << draw_bad_indices(e.plan, data, *e.problem.indices, style_for(options.color))
              << "\n"
              << std::flush;
  }
}

// What stands above the plan in the terminal, as a picture for documents.
void write_svg(const Explanation& e, const std::string& path) {
  const Request& r = e.plan.request();
  std::string text = cat(to_string(r.op), "   ", formula(r), "\n\n");
  if (e.map.empty()) {
    throw Error(Refusal{.who = "explain",
                        .what = "no picture",
                        .detail = "there are no indices, or too many",
                        .next = "a smaller shape, with indices as in i64[4]={3,1,0,2}"});
  }
  const Literal* data = e.problem.data ? &*e.problem.data : nullptr;
  const Literal* updates = e.problem.updates ? &*e.problem.updates : nullptr;
  text += draw_scene({e.plan, data, *e.problem.indices, e.map, updates}, {true, 120});
  const std::string svg = svg_of(text);
  if (path == "-") {
    std::cout << svg;
    return;
  }
  std::ofstream file(path);
  file << svg << std::flush;
  if (!file) {
    throw Error(Refusal{.code = ErrorCode::kFile,
                        .who = "explain",
                        .what = "cannot write",
                        .detail = cat("file \"", printable(path), "\""),
                        .next = "another path"});
  }
  std::cout << "picture in " << printable(path) << "\n";
}

int explain(const ExplainOptions& options) {
  Problem problem = parse_problem(joined(options.words));
  Plan plan = make_plan(problem.request);
  Explanation e{std::move(problem), std::move(plan), false, {}};
  if (!e.problem.indices) {
    e.problem.indices = example_indices(e.plan);
    e.made_up = e.problem.indices.has_value();
  }
  if (e.problem.indices && small_enough(e.plan)) {
    try {
      e.map = element_map(e.plan, {e.problem.indices->data(), e.plan.indices()});
    } catch (const IndexError&) {
      print_bad_indices(e, options);
      throw;
    }
  }
  if (!options.svg.empty()) {
    write_svg(e, options.svg);
  } else if (options.json) {
    print_json(e, options);
  } else {
    print_text(e, options);
  }
  return kSuccess;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  static ExplainOptions options;
  CLI::App* command = app.add_subcommand("explain", "Draw a call, its plan and its kernel");
  command->footer(kExplainExamples);
  command->add_option("problem", options.words, "Operator, data, indices, updates and attributes")
      ->required()
      ->option_text("PROBLEM");
  command->add_flag("--map", options.map,
                    "Also list where each output element comes from, or each update goes to");
  command->add_option("--limit", options.limit, "Print at most N lines of --map (64)")
      ->check(CLI::Range(int64_t{0}, INT64_MAX).description(""))
      ->option_text("N");
  command->add_flag("--kernels", options.kernels,
                    "List every kernel of this build, and of the GPU");
  command->add_flag("--json", options.json, "Print a JSON object");
  command->add_option("--svg", options.svg, "Write the picture as SVG; - is stdout")
      ->option_text("FILE");
  add_color_option(*command, options.color);
  command->callback([&chosen] { chosen = [] { return explain(options); }; });
}

}  // namespace sheaf::cli
