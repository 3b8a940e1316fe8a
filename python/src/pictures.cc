// SPDX-License-Identifier: MIT
//
// Pictures of calls: the library's own, of the arrays that Python has.
#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "bags.h"
#include "bindings.h"
#include "errors.h"
#include "pictures/names.h"
#include "plan/request.h"
#include "plan/vocabulary.h"
#include "sheaf/explain.h"
#include "support/closest.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

void refuse_other_shape(const char* tensor, const TensorSpec& got, const TensorSpec& planned) {
  raise_argument(refusal_text(cat("explain: ", tensor, " differ from the plan's"),
                              cat("got ", got.str(), ", planned for ", planned.str()),
                              cat("a plan for these ", tensor)));
}

// Reads an array into `view`. The layout may be another than the plan's: `spec` becomes the
// array's.
const void* host_memory(View& view, nb::handle object, Role role, TensorSpec& spec) {
  if (object.is_none()) {
    return nullptr;
  }
  const Elements like{spec.dtype, nullptr};
  view_array(view, object, {"explain", role, role == Role::kIndices ? nullptr : &like});
  if (view.on_gpu()) {
    raise_argument(refusal_text(cat("explain: ", to_string(role), " are on a GPU"),
                                "the picture is drawn on the CPU", "a copy of them in CPU memory"));
  }
  const TensorSpec& got = view.tensor.spec;
  if (got.dtype != spec.dtype || got.sizes != spec.sizes) {
    refuse_other_shape(to_string(role), got, spec);
  }
  spec = got;
  return view.tensor.data;
}

std::string picture(const Plan& plan, nb::handle indices, nb::handle data, nb::handle updates,
                    const std::string& title) {
  Request request = plan.request();
  View data_view, indices_view, updates_view;
  const PictureMemory memory{
      .data = host_memory(data_view, data, Role::kData, request.data),
      .indices = host_memory(indices_view, indices, Role::kIndices, request.indices),
      .updates = host_memory(updates_view, updates, Role::kUpdates, request.updates)};
  request.set_output({request.output.dtype, request.output.sizes});
  return svg_picture(make_plan(request), memory, title);
}

std::string bag_picture(const BagPlan& plan, nb::handle data, nb::handle indices,
                        nb::handle segments, nb::handle weights) {
  BagRequest request = plan.request();
  BagSpecs& specs = request.specs;
  TableViews table;
  View views[3];
  BagMemory memory;
  if (!data.is_none()) {
    view_table(table, data, "explain", nullptr);
    if (table.spec.sizes != specs.data.sizes || table.spec.encoding != specs.data.encoding) {
      raise_argument(refusal_text("explain: data differ from the plan's",
                                  cat("got ", table.spec.str(), ", planned for ", specs.data.str()),
                                  "a plan for these data"));
    }
    specs.data = table.spec;
    memory.stored = table.stored.tensor.data;
    memory.scales = table.scales.tensor.data;
    memory.zeros = table.zeros.tensor.data;
  }
  const auto take = [](View& view, nb::handle object, Role role, std::optional<TensorSpec>& spec) {
    return spec ? host_memory(view, object, role, *spec) : nullptr;
  };
  memory.indices = take(views[0], indices, Role::kIndices, specs.indices);
  memory.segments = take(views[1], segments, Role::kSegments, specs.segments);
  memory.weights = take(views[2], weights, Role::kWeights, specs.weights);
  request.options.output_type = plan.output().dtype;
  request.output.reset();
  return svg_picture(bag_plan(request), memory);
}

// None: there is no such name, or it is that of an operator that Python has no plans of.
nb::object find_name(std::string_view text, nb::handle data) {
  const pictures::Name* const name = pictures::find_name(text);
  const auto* const op = name == nullptr ? nullptr : find_named(kOps, name->op);
  if (op == nullptr) {
    return nb::none();
  }
  Request r = request_from(op->value);
  r.data.dtype = data.is_none() ? f32 : describe_array(data, {"explain", Role::kData}).dtype;
  pictures::apply_name(*name, r);
  nb::dict said;
  const auto text_of = [](std::string_view word) { return std::string(word); };
  said["id"] = text_of(name->id);
  said["op"] = text_of(name->op);
  said["call"] = text_of(name->call);
  said["negative"] = text_of(to_string(r.rule.negative));
  said["out_of_range"] = text_of(to_string(r.rule.out_of_range));
  said["fill_value"] =
      std::visit([](const auto& value) { return nb::cast(value); }, r.rule.fill_value.value());
  said["broadcast"] = r.broadcast;
  said["reduction"] = text_of(to_string(r.reduction));
  said["onto_zeros"] = r.onto_zeros;
  nb::dict words;
  for (const auto& reduction : kReductions) {
    words[nb::cast(text_of(reduction.name))] = text_of(reduction.name);
  }
  std::string_view list = name->words;
  while (!list.empty()) {
    const std::string_view pair = list.substr(0, list.find(' '));
    words[nb::cast(text_of(pair.substr(pair.find('=') + 1)))] =
        text_of(pair.substr(0, pair.find('=')));
    list.remove_prefix(std::min(pair.size() + 1, list.size()));
  }
  said["reductions"] = words;
  return said;
}

std::string name_call(std::string_view name, const Plan& plan) {
  return pictures::call_text(*pictures::find_name(name), plan.request());
}

std::vector<std::pair<bool, std::string>> name_objections(std::string_view name, const Plan& plan,
                                                          int64_t axis) {
  std::vector<std::pair<bool, std::string>> all;
  for (const pictures::Objection& objection :
       pictures::objections(*pictures::find_name(name), plan.request(), axis)) {
    all.emplace_back(objection.refuses, objection.text);
  }
  return all;
}

}  // namespace

void bind_pictures(nb::module_& module) {
  module.def("picture", picture, "plan"_a, "indices"_a.none(), "data"_a.none() = nb::none(),
             "updates"_a.none() = nb::none(), "title"_a = "",
             nb::sig("def picture(plan: Plan, indices: typing.Any, data: typing.Any = None, "
                     "updates: typing.Any = None, title: str = '') -> str"),
             "The call as an SVG document; what is None has no values.");
  module.def("bag_picture", bag_picture, "plan"_a, "data"_a.none(), "indices"_a.none(),
             "segments"_a.none(), "weights"_a.none(),
             nb::sig("def bag_picture(plan: BagPlan, data: typing.Any, indices: typing.Any, "
                     "segments: typing.Any, weights: typing.Any) -> str"),
             "The same of a bag.");
  module.def("find_name", find_name, "text"_a, "data"_a.none() = nb::none(),
             nb::sig("def find_name(text: str, data: typing.Any = None) -> dict[str, typing.Any] | "
                     "None"),
             "What another library's name for an operator stands for, on data like this.");
  module.def(
      "name_list",
      [] {
        std::vector<std::string> list;
        for (const pictures::Name& name : pictures::names()) {
          list.emplace_back(name.slug);
        }
        return list;
      },
      "The names that other libraries have for the operators.");
  module.def(
      "did_you_mean",
      [](std::string_view word) {
        std::vector<std::string_view> words = {"bag"};
        for (const pictures::Name& name : pictures::names()) {
          words.push_back(name.slug);
        }
        for (const auto& op : kOps) {
          words.push_back(op.name);
        }
        return sheaf::did_you_mean(word, words);
      },
      "word"_a, "A question about a mistyped operator; empty where none is near.");
  module.def("name_call", name_call, "name"_a, "plan"_a,
             "The call as the name's library writes it.");
  module.def("name_objections", name_objections, "name"_a, "plan"_a, "axis"_a,
             "(refuses, text): what the name's library would refuse, or do in another way.");
}

}  // namespace sheaf::python
