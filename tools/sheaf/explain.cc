// SPDX-License-Identifier: MIT
//
// sheaf explain: what a call does, how it is planned, and who runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "advice.h"
#include "command.h"
#include "explain.h"
#include "options.h"
#include "pictures/formula.h"
#include "pictures/names.h"
#include "pictures/operator_picture.h"
#include "pictures/scene.h"
#include "plan/refuse.h"
#include "problem/bag_text.h"
#include "problem/problem.h"
#include "problem/table_text.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

// Those that are asked before the one that runs, and it; of its own movers, only the one.
std::vector<KernelReport> asked_first(const std::vector<KernelReport>& reports,
                                      const std::string& chosen) {
  std::vector<KernelReport> shown;
  for (const KernelReport& report : reports) {
    const bool runs = report.name == chosen;
    if (runs || report.name.find('/') == std::string::npos) {
      shown.push_back(report);
    }
    if (runs) {
      break;
    }
  }
  return shown;
}

// The kernels in the order in which they are asked, up to the one that runs; or all of them, and
// then those of each device that is available.
std::string kernel_lines(const Plan& plan, bool all) {
  const std::vector<KernelReport> host = kernels_for(plan);
  const std::string chosen = kernel_name(plan);
  std::string text = cat("kernel\n", lines(all ? host : asked_first(host, chosen), chosen));
  for (const std::string& device : all ? device_names() : std::vector<std::string>()) {
    const std::vector<KernelReport> reports = kernels_for(plan, {.device = device});
    if (!reports.empty()) {
      text += cat("\nkernel on ", device, "\n", lines(reports, first_accepting(reports)));
    }
  }
  return text;
}

constexpr const char* kExplainExamples =
    R"(PROBLEM is operator, data, indices, attributes; a scatter has its updates after indices:
  gather f32[5,2] i64[3] axis=0
  scatter f32[5,2] i64[3] f32[3,2] axis=0 reduction=add
  bag f32[5,2] i64[6] offsets=i64[3] pool=mean
  table f32[5,2] i64[6] from=file to=gpu
Values in braces after a tensor are used in the picture; quote them, or the shell expands them.

Examples:
  sheaf explain 'gather f32[4]={11,12,13,14} u32[5]={3,1,3,0,2}'
  sheaf explain 'gather_elements f32[3,3] i64[2,3]={1,2,0,2,0,0} axis=0' --map
  sheaf explain 'gather_nd f32[2,2,2] i32[2,2]={{0,1},{1,0}}'
  sheaf explain 'gather f32[1000000,64] i64[4096] axis=0' --kernels
  sheaf explain 'gather f32[5,2] i64[2]={4,9} out_of_range=fill fill_value=-1' --json
  sheaf explain 'scatter_elements f32[5]={0,1,2,3,4} i64[4]={3,1,3,0} f32[4]={5,6,7,8}'
  sheaf explain 'scatter f32[3,2] i64[4]={2,0,9,2} reduction=add out_of_range=skip' --map
  sheaf explain 'torch.gather f32[2,3] i64[2,2]={2,0,1,1} dim=1'
  sheaf explain 'bag f32[5,2] i64[6]={4,0,2,2,1,3} offsets=i64[3]={0,2,3} pool=mean'
  sheaf explain 'bag row_u8_f32[1000000,64] i64[4096,20] weights=f32[4096,20]' --kernels
  sheaf explain 'table f32[6,2] i64[5]={4,1,4,0,5} from=file to=gpu piece_rows=2')";

using pictures::kMostPictured;
using pictures::Scene;
using pictures::Style;

// Everything there is to say about a problem.
struct Explanation {
  Problem problem;
  Plan plan;
  bool made_up;                    // the indices are ours, for want of given ones
  std::vector<ElementSource> map;  // where there are indices, and not too many
};

bool small_enough(const Plan& plan) {
  return element_count(plan.request().grid().sizes) <= kMostPictured;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

const void* memory_of(const std::optional<Literal>& values) {
  return values ? values->data() : nullptr;
}

Scene scene_of(const Explanation& e) {
  return {e.plan, memory_of(e.problem.data), e.problem.indices->data(), e.map,
          memory_of(e.problem.updates)};
}

void print_map(const Explanation& e, int64_t limit) {
  const Scene scene{e.plan, nullptr, e.problem.indices->data(), e.map};
  const auto count = static_cast<int64_t>(e.map.size());
  std::cout << "\nelement map\n";
  for (int64_t element = 0; element < std::min(count, limit); ++element) {
    std::cout << "  " << pictures::describe_element(scene, element) << "\n";
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
              << grouped(kMostPictured) << "\n";
    return;
  }
  std::cout << "\n" << pictures::draw_scene(scene_of(e), style);
  if (e.made_up) {
    std::cout << "(these indices are made up; give your own as in i64[4]={3,1,0,2})\n";
  }
}

std::vector<pictures::Objection> objections_to(const Explanation& e) {
  return e.problem.name == nullptr
             ? std::vector<pictures::Objection>()
             : pictures::objections(*e.problem.name, e.plan.request(), e.problem.request.axis);
}

int64_t moved_bytes(const Plan& plan) {
  return element_count(plan.request().grid().sizes) * plan.output().dtype.bytes();
}

void print_text(const Explanation& e, const ExplainOptions& options) {
  const Request& r = e.plan.request();
  const pictures::Name* const name = e.problem.name;
  std::cout << (name == nullptr ? "" : cat(pictures::call_text(*name, r), "\n")) << to_string(r.op)
            << ": " << pictures::summary(r.op) << "\n"
            << "  " << pictures::formula(r) << "\n"
            << "  " << describe(r) << "\n"
            << "  " << rule_text(r.rule) << "\n";
  for (const pictures::Objection& objection : objections_to(e)) {
    std::cout << "  " << objection.text << "\n";
  }
  print_picture(e, style_for(options.color));
  if (options.map && !e.map.empty()) {
    print_map(e, options.limit);
  }
  std::cout << "\nplan (moves " << grouped(moved_bytes(e.plan)) << " bytes)\n";
  std::cout << plan_lines(e.plan.str());
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

void print_json(const Explanation& e, const ExplainOptions& options) {
  const Request& r = e.plan.request();
  nlohmann::ordered_json json = {{"op", to_string(r.op)},
                                 {"formula", pictures::formula(r)},
                                 {"bytes_moved", moved_bytes(e.plan)},
                                 {"plan", nlohmann::ordered_json::parse(e.plan.json())},
                                 {"kernel", kernel_name(e.plan)}};
  if (e.problem.name != nullptr) {
    json["name"] = e.problem.name->id;
    json["call"] = pictures::call_text(*e.problem.name, r);
    auto& list = json["objections"] = nlohmann::ordered_json::array();
    for (const pictures::Objection& objection : objections_to(e)) {
      list.push_back({{"refuses", objection.refuses}, {"text", objection.text}});
    }
  }
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
    std::cout << pictures::draw_bad_indices(e.plan, memory_of(e.problem.data),
                                            e.problem.indices->data(), style_for(options.color))
              << "\n"
              << std::flush;
  }
}

// The names that a problem string may begin with, by library.
void print_names() {
  std::string_view dialect;
  for (const pictures::Name& name : pictures::names()) {
    if (name.dialect != dialect) {
      std::cout << (dialect.empty() ? "" : "\n") << name.dialect << "\n";
      dialect = name.dialect;
    }
    std::cout << "  " << name.slug << std::string(30 - std::min<size_t>(name.slug.size(), 28), ' ')
              << name.op << "\n";
  }
}

int explain(const ExplainOptions& options) {
  if (options.names) {
    print_names();
    return kSuccess;
  }
  const std::string text = joined(options.words);
  if (is_bag_text(text) || is_table_text(text)) {
    try {
      return is_bag_text(text) ? explain_bag(text, options) : explain_table(text, options);
    } catch (const IndexError& error) {
      throw with_attributes(error);
    }
  }
  Problem problem = parse_problem(text);
  Plan plan = make_plan(problem.request);
  Explanation e{std::move(problem), std::move(plan), false, {}};
  if (!e.problem.indices) {
    e.problem.indices = pictures::example_indices(e.plan);
    e.made_up = e.problem.indices.has_value();
  }
  if (e.problem.indices && small_enough(e.plan)) {
    try {
      e.map = element_map(e.plan, {e.problem.indices->data(), e.plan.indices()});
    } catch (const IndexError& error) {
      print_bad_indices(e, options);
      throw with_attributes(error);
    }
  }
  if (!options.svg.empty()) {
    write_svg(svg_picture(e.plan,
                          {.data = memory_of(e.problem.data),
                           .indices = memory_of(e.problem.indices),
                           .updates = memory_of(e.problem.updates)},
                          e.problem.name == nullptr
                              ? ""
                              : pictures::call_text(*e.problem.name, e.plan.request())),
              options.svg);
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
  command
      ->add_option(
          "problem", options.words,
          "Operator (or its name in another library), data, indices, updates and attributes")
      ->option_text("PROBLEM");
  command->add_flag("--names", options.names,
                    "List the names that other libraries have for operators");
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
  command->callback([&chosen] {
    if (options.words.empty() && !options.names) {
      throw CLI::RequiredError("PROBLEM");
    }
    chosen = [] { return explain(options); };
  });
}

}  // namespace sheaf::cli
