// SPDX-License-Identifier: MIT
//
// What the page is told about rows of a table that lies anywhere: the ways, and the library's
// picture of the one they take.
#include "answers.h"
#include "pictures/table_picture.h"
#include "plan/refuse.h"
#include "problem/table_text.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::web {

Json table_json(std::string_view problem) {
  TableText text = parse_table(problem);
  const Plan plan = make_plan(text.problem.request);
  const int64_t row_bytes = plan.nest().row_bytes;
  const bool made_up = !text.problem.indices;
  if (made_up) {
    text.problem.indices = pictures::example_indices(plan);
  }
  const std::string_view chosen = pictures::chosen_way(text.journey, row_bytes);
  Json lines = Json::array();
  for (const pictures::WayAnswer& way : pictures::ways_of(text.journey, row_bytes)) {
    lines.push_back(cat(way.name, ": ",
                        way.name == chosen    ? "runs this gather"
                        : way.refusal.empty() ? "could, but is asked later"
                                              : cat("refuses: ", way.refusal)));
  }
  Json json = {{"table", true},
               {"formula", "output[i, …] = table[indices[i], …]"},
               {"journey", pictures::journey_text(text.journey, row_bytes)},
               {"describe", describe(plan.request())},
               {"made_up", made_up},
               {"ways", std::move(lines)}};
  if (!text.problem.indices || !is_drawn(plan.data()) || !is_drawn(plan.output())) {
    return json;
  }
  try {
    const auto map = element_map(plan, {text.problem.indices->data(), plan.indices()});
    json["svg"] =
        pictures::table_svg({plan, text.problem.data ? text.problem.data->data() : nullptr,
                             text.problem.indices->data(), map},
                            text.journey);
  } catch (const IndexError& error) {
    json["error"] = error_json(error);
  }
  return json;
}

}  // namespace sheaf::web
