// SPDX-License-Identifier: MIT
//
// What the page is told about a bag: its formula, its plan, its tensors and its steps.
#include "plan/bag.h"
#include "answers.h"
#include "pictures/bag_picture.h"
#include "plan/resolve.h"
#include "plan/scalar.h"
#include "problem/bag_text.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"

namespace sheaf::web {
namespace {

Json bag_call_json(const BagPlan& plan) {
  const BagNest& nest = plan.nest();
  const BagOptions& options = plan.request().options;
  return {{"op", "bag"},
          {"scatters", false},
          {"pool", to_string(nest.pool)},
          {"form", nest.per_bag >= 0 ? "rows" : to_string(nest.form)},
          {"per_bag", nest.per_bag},
          {"last_offset", options.last_offset},
          {"bags", nest.bags},
          {"elements", nest.elements},
          {"indexed", nest.indexed},
          {"weighted", nest.weighted},
          {"encoding", to_string(nest.rows.encoding)},
          {"block", plan.request().specs.data.block},
          {"block_axis", plan.request().specs.data.axis},
          {"computed", nest.computed.name()},
          {"accumulate_f32", options.accumulate_f32},
          {"padding", nest.padding >= 0 ? Json(nest.padding) : Json()},
          {"empty_value", to_string(options.empty_value)},
          {"negative", to_string(nest.negative)},
          {"out_of_range", to_string(nest.out_of_range)},
          {"fill_value", to_string(options.rule.fill_value)}};
}

// The lines of the plan that the steps walk over.
Json bag_plan_json(const BagPlan& plan) {
  const BagNest& nest = plan.nest();
  int line = 3;
  Json at = {{"bag", 1}, {"entry", 2}};
  at["read"] = nest.indexed ? Json(line++) : Json();
  at["unless"] = nest.padding >= 0 ? Json(line++) : Json();
  at["row"] = line++;
  at["write"] = line;
  return {{"lines", lines_of(plan.str())}, {"line", std::move(at)}};
}

// Encoded rows are shown as they are decoded; `stored` are their bytes.
Json data_json(const BagCall& call) {
  const EncodedSpec& data = call.plan.request().specs.data;
  const bool given = call.text.data.has_value();
  if (data.encoding == Encoding::kPlain) {
    return tensor_json("data", data.stored, call.drawn ? &call.data : nullptr, given);
  }
  Json json = tensor_json("data", TensorSpec(f32, data.sizes), nullptr, given);
  json["dtype"] = to_string(data.encoding);
  if (call.drawn) {
    json["values"] = decoded_texts(call);
    json["stored"] = tensor_json("stored", data.stored, &call.data, false);
  }
  return json;
}

Json bag_tensors_json(const BagCall& call, const Literal* output) {
  const BagSpecs& specs = call.plan.request().specs;
  const auto values = [&](const Literal& literal) { return call.drawn ? &literal : nullptr; };
  Json list = Json::array({data_json(call)});
  const auto add = [&](const std::string& name, const std::optional<TensorSpec>& spec,
                       const Literal& literal, bool given) {
    if (spec) {
      list.push_back(tensor_json(name.c_str(), *spec, values(literal), given));
    }
  };
  add("scales", specs.data.scales, call.scales, false);
  add("zeros", specs.data.zeros, call.zeros, false);
  add("indices", specs.indices, call.indices, call.text.indices.has_value());
  add(std::string(to_string(call.plan.nest().form)), specs.segments, call.segments,
      call.text.segments.has_value());
  add("weights", specs.weights, call.weights, call.text.weights.has_value());
  list.push_back(tensor_json("output", call.plan.output(), output, false));
  return list;
}

// For each entry its bag and the row that it names.
Json entries_json(const BagCall& call) {
  Json list = Json::array();
  for (int64_t p = 0; p < call.plan.nest().entries; ++p) {
    list.push_back({{"bag", nullptr}, {"row", nullptr}, {"left_out", true}});
  }
  const pictures::Bags bags = pictures::entries_by_bag({call.plan, call.memory()});
  for (size_t s = 0; s < bags.size(); ++s) {
    for (const pictures::BagEntry& entry : bags[s]) {
      list[static_cast<size_t>(entry.number)] = {
          {"bag", s},
          {"row", entry.row == kOutside ? Json() : Json(entry.row)},
          {"left_out", entry.left_out}};
    }
  }
  return list;
}

Json indices_outside(const BagCall& call) {
  const BagNest& nest = call.plan.nest();
  Json outside = Json::array();
  for (int64_t p = 0; nest.indexed && p < nest.entries; ++p) {
    const int64_t row = with_index_type(nest.index_type, [&](auto zero) {
      const auto value = load_index<decltype(zero)>(call.indices.data(), nest.indices.at(p));
      return in_range_or_outside(value, nest.extent, nest.negative);
    });
    if (row == kOutside) {
      outside.push_back(p);
    }
  }
  return outside;
}

Json bag_kernels_json() {
  const auto backend = [](const char* name, const char* note, Json kernels) {
    return Json{{"backend", name}, {"note", note}, {"kernels", std::move(kernels)}};
  };
  return Json::array(
      {backend("cpu",
               "Highway and oneTBB, not in this page: sheaf explain says which kernel it is.",
               Json::array()),
       backend("device",
               "What fits depends on the GPU: sheaf explain --kernels asks the one at hand.",
               Json::array()),
       backend(
           "reference",
           "Plain loops, which run this page. Every other backend is held against them, bit for "
           "bit.",
           Json::array({{{"name", "reference.bag"}, {"refusal", ""}, {"runs", true}}}))});
}

}  // namespace

Json bag_json(std::string_view problem) {
  const BagCall call = read_bag(problem);
  const BagSpecs& specs = call.plan.request().specs;
  Json json = {
      {"bag", true},
      {"call", bag_call_json(call.plan)},
      {"formula", pictures::bag_formula(call.plan)},
      {"summary", "rows of data, picked by index and pooled"},
      {"describe", describe(call.plan.request())},
      {"made_up", (specs.indices && !call.text.indices) || (specs.segments && !call.text.segments)},
      {"plan", bag_plan_json(call.plan)},
      {"kernels", bag_kernels_json()},
      {"drawn", call.drawn}};
  if (!call.drawn) {
    json["tensors"] = bag_tensors_json(call, nullptr);
    return json;
  }
  json["out_of_range"] = indices_outside(call);
  try {
    const Literal output = run_bag(call);
    json["tensors"] = bag_tensors_json(call, &output);
    json["entries"] = entries_json(call);
    json["steps"] = bag_steps_json(call, output);
  } catch (const Error& error) {
    json["tensors"] = bag_tensors_json(call, nullptr);
    json["error"] = error_json(error);
  }
  return json;
}

}  // namespace sheaf::web
