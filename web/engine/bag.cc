// SPDX-License-Identifier: MIT
//
// What the page is told about a bag: its formula, its plan, and the picture that the library draws
// of it.
#include "plan/bag.h"
#include "answers.h"
#include "pictures/bag_picture.h"
#include "problem/bag_text.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"

namespace sheaf::web {
namespace {

const void* memory_of(const std::optional<Literal>& values) {
  return values ? static_cast<const void*>(values->data()) : nullptr;
}

}  // namespace

Json bag_json(std::string_view problem) {
  const BagText text = parse_bag(problem);
  const BagPlan plan = make_bag_plan(text.request);
  const BagSpecs& specs = text.request.specs;
  const BagMemory memory{.stored = memory_of(text.data),
                         .indices = memory_of(text.indices),
                         .segments = memory_of(text.segments),
                         .weights = memory_of(text.weights)};
  Json json = {{"bag", true},
               {"formula", pictures::bag_formula(plan)},
               {"summary", "rows of data, picked by index and pooled"},
               {"describe", describe(plan.request())},
               {"made_up", (specs.indices && !text.indices) || (specs.segments && !text.segments)},
               {"plan", {{"lines", lines_of(plan.str())}}}};
  try {
    json["svg"] = svg_picture(plan, memory);
  } catch (const Error& error) {
    json["error"] = error_json(error);
  }
  return json;
}

}  // namespace sheaf::web
