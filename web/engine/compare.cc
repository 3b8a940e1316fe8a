// SPDX-License-Identifier: MIT
//
// Two calls side by side. Plans are equal when they move the same bytes in the same way; what is
// said of unequal ones is the first difference, in the order in which a plan is read.
#include <algorithm>

#include "answers.h"
#include "pictures/formula.h"
#include "plan/refuse.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::web {
namespace {

struct Side {
  std::optional<Call> call;
  std::optional<Literal> output;
  Json json;
};

Side read_side(std::string_view problem) {
  Side side;
  try {
    side.call.emplace(read_call(problem));
    const Plan& plan = side.call->plan;
    side.json = {{"call", call_json(plan.request())},
                 {"formula", pictures::formula(plan.request())},
                 {"describe", describe(plan.request())},
                 {"plan", plan.str()}};
    if (side.call->drawn) {
      element_map(plan, {side.call->indices.data(), plan.indices()});
      side.output = run_call(*side.call);
    }
    side.json["tensors"] = tensors_json(*side.call, side.output ? &*side.output : nullptr);
  } catch (const Error& error) {
    side.json["error"] = error_json(error);
  }
  return side;
}

std::string unequal(const char* what, const std::string& a, const std::string& b) {
  return cat(what, ": ", a, " on the left, ", b, " on the right");
}

template <class T>
std::string unequal(const char* what, const T& a, const T& b) {
  return unequal(what, cat(a), cat(b));
}

std::string loops_difference(const Nest& a, const Nest& b) {
  if (a.loops.size() != b.loops.size()) {
    return unequal("loops", a.loops.size(), b.loops.size());
  }
  for (int l = 0; l < a.loops.size(); ++l) {
    const std::string loop = cat("loop p", l);
    const Loop& of_a = a.loops[l];
    const Loop& of_b = b.loops[l];
    if (of_a.extent != of_b.extent) {
      return unequal(cat(loop, " runs over").c_str(), of_a.extent, of_b.extent);
    }
    if (of_a.index != of_b.index) {
      return unequal(cat(loop, " moves the index by").c_str(), of_a.index, of_b.index);
    }
    if (of_a.data != of_b.data) {
      return unequal(cat(loop, " moves data by (bytes)").c_str(), of_a.data, of_b.data);
    }
    if (of_a.output != of_b.output) {
      return unequal(cat(loop, " moves the output by (bytes)").c_str(), of_a.output, of_b.output);
    }
  }
  return "";
}

std::string coordinates_difference(const Nest& a, const Nest& b) {
  if (a.coordinates.size() != b.coordinates.size()) {
    return unequal("indices per tuple", a.coordinates.size(), b.coordinates.size());
  }
  for (int c = 0; c < a.coordinates.size(); ++c) {
    const Coordinate& of_a = a.coordinates[c];
    const Coordinate& of_b = b.coordinates[c];
    if (of_a.extent != of_b.extent) {
      return unequal(cat("index i", c, " has a range of").c_str(), of_a.extent, of_b.extent);
    }
    if (of_a.stride != of_b.stride) {
      return unequal(cat("index i", c, " moves data by (bytes)").c_str(), of_a.stride, of_b.stride);
    }
    if (of_a.offset != of_b.offset) {
      return unequal(cat("index i", c, " stands at").c_str(), of_a.offset, of_b.offset);
    }
  }
  return "";
}

std::string shape_difference(const Request& a, const Request& b) {
  return a.output.sizes == b.output.sizes
             ? ""
             : unequal("shape of the output", bracketed(a.output.sizes), bracketed(b.output.sizes));
}

std::string nest_difference(const Nest& a, const Nest& b) {
  if (a.scatters != b.scatters) {
    return unequal("direction", std::string(a.scatters ? "a scatter" : "a gather"),
                   std::string(b.scatters ? "a scatter" : "a gather"));
  }
  if (std::string text = coordinates_difference(a, b); !text.empty()) {
    return text;
  }
  if (a.row_bytes != b.row_bytes) {
    return unequal("bytes per step", a.row_bytes, b.row_bytes);
  }
  return loops_difference(a, b);
}

std::string rule_difference(const Plan& plan_a, const Plan& plan_b) {
  const Nest& a = plan_a.nest();
  const Nest& b = plan_b.nest();
  if (a.index_type != b.index_type) {
    return unequal("index type", a.index_type.name(), b.index_type.name());
  }
  if (a.negative != b.negative) {
    return unequal("negative indices", to_string(a.negative), to_string(b.negative));
  }
  if (a.out_of_range != b.out_of_range) {
    return unequal("indices out of range", to_string(a.out_of_range), to_string(b.out_of_range));
  }
  if (a.reduction != b.reduction) {
    return unequal("reduction", to_string(a.reduction), to_string(b.reduction));
  }
  const Request& of_a = plan_a.request();
  const Request& of_b = plan_b.request();
  if (of_a.include_self != of_b.include_self) {
    return unequal("include_self", int{of_a.include_self}, int{of_b.include_self});
  }
  return "fill value, element type or base";
}

// Moves first, then rules: two calls that move alike but treat bad indices differently are near.
std::string difference(const Plan& a, const Plan& b) {
  if (std::string text = shape_difference(a.request(), b.request()); !text.empty()) {
    return text;
  }
  if (std::string text = nest_difference(a.nest(), b.nest()); !text.empty()) {
    return text;
  }
  return rule_difference(a, b);
}

// Bags are compared by the text of their plans, with each other and with scatters.
std::string text_of_plan(std::string_view problem, Json& side) {
  try {
    const std::string text = is_bag_text(problem) ? make_bag_plan(parse_bag(problem).request).str()
                                                  : read_call(problem).plan.str();
    side["plan"] = text;
    return text;
  } catch (const Error& error) {
    side["error"] = error_json(error);
    return "";
  }
}

Json compare_bags(std::string_view a, std::string_view b) {
  Json left = Json::object();
  Json right = Json::object();
  const std::vector<std::string> of_a = lines_of(text_of_plan(a, left));
  const std::vector<std::string> of_b = lines_of(text_of_plan(b, right));
  const bool read = !of_a.empty() && !of_b.empty();
  std::string text;
  const bool both = is_bag_text(a) && is_bag_text(b);
  for (size_t line = 0; read && both && text.empty() && line < std::max(of_a.size(), of_b.size());
       ++line) {
    const std::string l = line < of_a.size() ? of_a[line] : "nothing";
    const std::string r = line < of_b.size() ? of_b[line] : "nothing";
    text = l == r ? "" : unequal(cat("line ", line + 1, " of the plan").c_str(), l, r);
  }
  return {{"a", std::move(left)},
          {"b", std::move(right)},
          {"same", read && of_a == of_b},
          {"difference", text}};
}

}  // namespace

Json compare_json(std::string_view a, std::string_view b) {
  if (is_bag_text(a) || is_bag_text(b)) {
    return compare_bags(a, b);
  }
  Side left = read_side(a);
  Side right = read_side(b);
  Json json = {{"a", left.json}, {"b", right.json}};
  if (!left.call || !right.call) {
    json["same"] = false;
    json["difference"] = "";
    return json;
  }
  const Plan& plan_a = left.call->plan;
  const Plan& plan_b = right.call->plan;
  const bool same_plan = plan_a == plan_b;
  json["same"] = same_plan;
  json["same_moves"] = nest_difference(plan_a.nest(), plan_b.nest()).empty();
  json["difference"] =
      same_plan ? shape_difference(plan_a.request(), plan_b.request()) : difference(plan_a, plan_b);
  if (left.output && right.output) {
    json["same_values"] = *left.output == *right.output;
  }
  return json;
}

}  // namespace sheaf::web
