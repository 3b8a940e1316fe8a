// SPDX-License-Identifier: MIT
//
// sheaf explain 'bag …': which rows go into which bag, the plan, and the kernel.
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "execution/backend.h"
#include "execution/registry.h"
#include "explain.h"
#include "options.h"
#include "pictures/bag_picture.h"
#include "problem/bag_text.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

// The kernels of the host's backends, in the order in which they are asked.
std::vector<KernelReport> reports_for(const BagPlan& plan) {
  std::vector<KernelReport> reports;
  for (const Backend* backend : host_backends()) {
    for (const BagKernel& kernel : backend->bag) {
      const char* const why = kernel.refusal(plan.nest());
      reports.push_back({std::string(kernel.name), why == nullptr ? "" : why});
    }
  }
  return reports;
}

std::vector<KernelReport> up_to(std::vector<KernelReport> reports, const std::string& chosen) {
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].name == chosen) {
      reports.resize(i + 1);
    }
  }
  return reports;
}

// What rows and indices the bag reads, and what it writes.
int64_t read_bytes(const BagPlan& plan) {
  const BagNest& nest = plan.nest();
  const int64_t row =
      nest.rows.encoding == Encoding::kPlain
          ? nest.elements * nest.rows.type.bytes()
          : nest.rows_per_entry * encoded_row_bytes(nest.rows.encoding, nest.rows.elements);
  return nest.entries * (row + (nest.indexed ? nest.index_type.bytes() : 0));
}
int64_t written_bytes(const BagPlan& plan) {
  return element_count(plan.output().sizes) * plan.output().dtype.bytes();
}

void print_bag(const BagPlan& plan, const std::string& picture, bool made_up,
               const ExplainOptions& options) {
  std::cout << "bag: rows of data, picked by index and pooled\n  " << pictures::bag_formula(plan)
            << "\n  " << describe(plan.request()) << "\n";
  if (plan.nest().indexed) {
    std::cout << "  " << rule_text(plan.request().options.rule) << "\n";
  }
  if (!picture.empty()) {
    std::cout << "\n" << picture;
    if (made_up) {
      std::cout << "(made up; give your own as in i64[4]={3,1,0,2} offsets=i64[2]={0,3})\n";
    }
  } else {
    std::cout << "\nno picture: a tensor has more elements than a screen takes\n";
  }
  const std::vector<KernelReport> reports = reports_for(plan);
  const std::string chosen = first_accepting(reports);
  std::cout << "\nplan (reads " << grouped(read_bytes(plan))
            << " bytes of rows and indices, writes " << grouped(written_bytes(plan)) << ")\n"
            << plan_lines(plan.str()) << "\nkernel\n"
            << lines(options.kernels ? reports : up_to(reports, chosen), chosen);
}

void print_bag_json(const BagPlan& plan) {
  const std::vector<KernelReport> reports = reports_for(plan);
  std::cout << nlohmann::ordered_json{{"op", "bag"},
                                      {"formula", pictures::bag_formula(plan)},
                                      {"bytes_read", read_bytes(plan)},
                                      {"bytes_written", written_bytes(plan)},
                                      {"plan", nlohmann::ordered_json::parse(plan.json())},
                                      {"kernel", first_accepting(reports)},
                                      {"kernels", reports_json(reports)}}
                   .dump(2)
            << "\n";
}

}  // namespace

int explain_bag(const std::string& problem, const ExplainOptions& options) {
  const BagText text = parse_bag(problem);
  const BagPlan plan = make_bag_plan(text.request);
  const BagSpecs& specs = text.request.specs;
  const bool made_up = (specs.indices && !text.indices) || (specs.segments && !text.segments);
  const auto values_of = [](const std::optional<Literal>& values) {
    return values ? static_cast<const void*>(values->data()) : nullptr;
  };
  BagMemory memory{.stored = values_of(text.data),
                   .indices = values_of(text.indices),
                   .segments = values_of(text.segments),
                   .weights = values_of(text.weights)};
  if (!options.svg.empty()) {
    write_svg(svg_picture(plan, memory), options.svg);
  } else if (options.json) {
    print_bag_json(plan);
  } else {
    std::vector<pictures::Zeros> made;
    const bool drawn = pictures::make_up_entries(plan, memory, made);
    // First: what is wrong with segments and indices is all that is said then.
    print_bag(plan, drawn ? pictures::draw_bag({plan, memory}, style_for(options.color)) : "",
              made_up, options);
  }
  return kSuccess;
}

}  // namespace sheaf::cli
