// SPDX-License-Identifier: MIT
#include "answers.h"
#include "pictures/element_text.h"
#include "pictures/formula.h"
#include "pictures/scene.h"
#include "plan/lower.h"
#include "problem/bag_text.h"
#include "problem/table_text.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::web {
namespace {

// The text of a plan is a heading, a line for each loop, one for each coordinate, and the move.
Json plan_json(const Plan& plan) {
  return {{"lines", lines_of(plan.str())},
          {"loops", plan.nest().loops.size()},
          {"coordinates", plan.nest().coordinates.size()},
          {"row_bytes", plan.nest().row_bytes},
          {"json", Json::parse(plan.json())}};
}

// How the components of an index tuple lie in `indices`, and which axis of data each moves along.
Json tuple_json(const Plan& plan) {
  const Request& r = plan.request();
  const int dim = tuple_dim(r);
  Json axes = Json::array();
  Json extents = Json::array();
  for (int c = 0; c < plan.nest().coordinates.size(); ++c) {
    axes.push_back(coordinate_axis(r, c));
    extents.push_back(plan.nest().coordinates[c].extent);
  }
  return {{"dim", dim < 0 ? Json() : Json(dim)},
          {"length", plan.nest().coordinates.size()},
          {"step", dim < 0 ? 1 : contiguous_strides(r.indices.sizes)[dim]},
          {"axes", std::move(axes)},
          {"extents", std::move(extents)}};
}

// The kernels of a backend in the order in which they are asked; the first that accepts runs.
Json backend_json(const char* backend, const char* note, const std::vector<KernelReport>& reports) {
  Json list = Json::array();
  bool chosen = false;
  for (const KernelReport& report : reports) {
    const bool runs = !chosen && report.refusal.empty();
    chosen = chosen || runs;
    list.push_back({{"name", report.name}, {"refusal", report.refusal}, {"runs", runs}});
  }
  return {{"backend", backend}, {"note", note}, {"kernels", std::move(list)}};
}

Json kernels_json(const Plan& plan) {
  return Json::array(
      {backend_json("cpu", "What a processor would take: Highway and oneTBB, not in this page.",
                    cpu_kernels(plan)),
       backend_json("cuda",
                    "What fits depends on the GPU: sheaf explain --kernels asks the one at hand.",
                    {}),
       backend_json("reference",
                    "Plain loops, which run this page. Every other backend is held against them, "
                    "bit for bit.",
                    kernels_for(plan))});
}

std::string element_of(const TensorSpec& spec, const Literal& values, int64_t element) {
  return pictures::element_text(spec.dtype, values.data() + element * spec.dtype.bytes());
}

// "output[0, 1] = data[indices[0, 1], 1] = data[2, 1] = 7", and of a scatter
// "output[indices[0], 1] += updates[0, 1]: output[2, 1] += 7".
std::string filled_formula(const Call& call, int64_t element, const ElementSource& source) {
  const Request& r = call.plan.request();
  const std::string general =
      pictures::formula_at(r, pictures::position_of(element, r.grid().sizes));
  if (is_scatter(r.op)) {
    if (source.data == kSkipped) {
      return general + ": out of range, so it is skipped";
    }
    const size_t sign = general.rfind("= updates");
    const size_t before = general.rfind(' ', sign);
    return cat(general, ": ", pictures::named("output", source.data, r.output.sizes),
               general.substr(before, sign + 2 - before),
               element_of(r.updates, call.updates, element));
  }
  if (source.data == kFilled) {
    return general + ": out of range, so it is the fill value";
  }
  const std::string where = pictures::named("data", source.data, r.data.sizes);
  const bool plain = general.ends_with("= " + where);
  return cat(general, plain ? "" : cat(" = ", where), " = ",
             element_of(r.data, call.data, source.data));
}

// For each element of the output, or of the updates: where it comes from or goes to, the first
// index of its tuple, and the formula with the numbers.
Json map_json(const Call& call, const std::vector<ElementSource>& map) {
  Json data = Json::array();
  Json index = Json::array();
  Json formulas = Json::array();
  for (size_t e = 0; e < map.size(); ++e) {
    data.push_back(map[e].data);
    index.push_back(map[e].index);
    formulas.push_back(filled_formula(call, static_cast<int64_t>(e), map[e]));
  }
  return {
      {"data", std::move(data)}, {"index", std::move(index)}, {"formulas", std::move(formulas)}};
}

Json colors_json(const Request& r) {
  const pictures::Colors colors(r);
  Json list = Json::array();
  const int64_t count = element_count(r.data.sizes);
  for (int64_t e = 0; e < count; ++e) {
    list.push_back(colors.of(e));
  }
  return list;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Json explain_json(std::string_view problem) {
  if (is_bag_text(problem)) {
    return bag_json(problem);
  }
  if (is_table_text(problem)) {
    return table_json(problem);
  }
  const Call call = read_call(problem);
  const Request& r = call.plan.request();
  Json json = {{"call", call_json(r)},
               {"formula", pictures::formula(r)},
               {"summary", pictures::summary(r.op)},
               {"plan", plan_json(call.plan)},
               {"tuple", tuple_json(call.plan)},
               {"kernels", kernels_json(call.plan)},
               {"drawn", call.drawn}};
  if (!call.drawn) {
    json["tensors"] = tensors_json(call, nullptr);
    return json;
  }
  json["out_of_range"] = out_of_range_indices(call);
  json["colors"] = colors_json(r);
  try {
    // Also under `trust`: a page must not read what a broken promise points at.
    const auto map = element_map(call.plan, {call.indices.data(), r.indices});
    const Literal output = run_call(call);
    json["tensors"] = tensors_json(call, &output);
    json["map"] = map_json(call, map);
    json["steps"] = steps_json(call);
  } catch (const IndexError& error) {
    json["tensors"] = tensors_json(call, nullptr);
    json["error"] = error_json(error);
  }
  return json;
}

}  // namespace sheaf::web
