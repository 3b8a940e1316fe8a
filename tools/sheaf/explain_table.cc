// SPDX-License-Identifier: MIT
//
// sheaf explain 'table …': where rows lie, which way they take, and what is fetched.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "explain.h"
#include "options.h"
#include "pictures/table_picture.h"
#include "plan/refuse.h"
#include "problem/table_text.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

// The ways in the order in which they are asked; `*` is the one that runs.
std::string way_lines(const pictures::Journey& journey, int64_t row_bytes) {
  const std::string_view chosen = pictures::chosen_way(journey, row_bytes);
  std::string text;
  for (const auto& [name, refusal] : pictures::ways_of(journey, row_bytes)) {
    const bool runs = name == chosen;
    const std::string gap(11 - name.size(), ' ');
    text += cat(runs ? "  * " : "    ", name, gap,
                runs              ? "runs this gather"
                : refusal.empty() ? "could, but is asked later"
                                  : cat("refuses: ", refusal),
                "\n");
  }
  return text;
}

nlohmann::ordered_json table_json(const pictures::Journey& journey, int64_t row_bytes) {
  auto ways = nlohmann::ordered_json::array();
  for (const auto& [name, refusal] : pictures::ways_of(journey, row_bytes)) {
    ways.push_back({{"name", name}, {"refusal", refusal}});
  }
  return {{"op", "table"},
          {"from", journey.from},
          {"to", journey.to},
          {"way", pictures::chosen_way(journey, row_bytes)},
          {"ways", std::move(ways)}};
}

}  // namespace

int explain_table(const std::string& problem, const ExplainOptions& options) {
  TableText text = parse_table(problem);
  const Plan plan = make_plan(text.problem.request);
  const int64_t row_bytes = plan.nest().row_bytes;
  if (!text.problem.indices) {
    text.problem.indices = pictures::example_indices(plan);
  }
  if (options.json) {
    std::cout << table_json(text.journey, row_bytes).dump(2) << "\n";
    return kSuccess;
  }
  const bool drawn =
      text.problem.indices && element_count(plan.output().sizes) <= pictures::kMostPictured;
  if (!drawn && !options.svg.empty()) {
    throw Error(Refusal{.who = "explain",
                        .what = "no picture",
                        .detail = "there are no indices, or too many",
                        .next = "a smaller shape, with indices as in i64[4]={3,1,0,2}"});
  }
  std::vector<ElementSource> map;
  if (drawn) {
    map = element_map(plan, {text.problem.indices->data(), plan.indices()});
  }
  const pictures::Scene scene{plan, text.problem.data ? text.problem.data->data() : nullptr,
                              drawn ? text.problem.indices->data() : nullptr, map};
  if (!options.svg.empty()) {
    write_svg(pictures::table_svg(scene, text.journey), options.svg);
    return kSuccess;
  }
  std::cout << "table: rows " << pictures::journey_text(text.journey, row_bytes) << "\n  "
            << describe(plan.request()) << "\n  " << rule_text(plan.request().rule) << "\n\n"
            << (drawn ? pictures::draw_table(scene, text.journey, style_for(options.color))
                      : "no picture: give indices values, as in i64[4]={3,1,0,2}\n")
            << "\nways\n"
            << way_lines(text.journey, row_bytes);
  return kSuccess;
}

}  // namespace sheaf::cli
