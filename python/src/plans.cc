// SPDX-License-Identifier: MIT
//
// Spec and Plan, and the functions that make plans.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "bindings.h"
#include "call.h"
#include "dims.h"
#include "docs.h"
#include "errors.h"
#include "options.h"
#include "sheaf/explain.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

DType dtype_from(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) {
    return dtype_from_name(nb::cast<std::string>(object));
  }
  const nb::object descr = nb::module_::import_("numpy").attr("dtype")(object);
  return dtype_from_numpy(reinterpret_cast<PyArray_Descr*>(descr.ptr()), "Spec");
}

void init_spec(TensorSpec* self, nb::handle dtype, const std::vector<int64_t>& shape,
               nb::handle strides) {
  const Dims sizes{std::span<const int64_t>(shape)};
  const DType type = dtype_from(dtype);
  if (strides.is_none()) {
    new (self) TensorSpec(type, sizes);
    return;
  }
  const auto given = nb::cast<std::vector<int64_t>>(strides);
  new (self) TensorSpec(type, sizes, Dims{std::span<const int64_t>(given)});
}

// An array or a Spec, and the NumPy dtype if it has one.
struct Described {
  TensorSpec spec;
  nb::object keep;
  PyArray_Descr* descr = nullptr;
};

Described describe_tensor(nb::handle object, const Argument& argument) {
  if (nb::isinstance<TensorSpec>(object)) {
    return {nb::cast<TensorSpec>(object), {}, nullptr};
  }
  View view;
  view_array(view, object, argument);
  if (!view.whole_strides) {
    raise_argument(refusal_text("plan: out has strides that are not whole elements",
                                "a plan counts strides in elements",
                                "a contiguous out, then copy it"));
  }
  return {view.tensor.spec, view.object, view.descr()};
}

struct PlanKeywords {
  GatherKeywords gather;
  nb::handle out;
};

Plan make(Op op, nb::handle data, nb::handle indices, const PlanKeywords& keywords) {
  const Described described = describe_tensor(data, {to_string(op), Role::kData});
  const Request r = request_from(op, keywords.gather, described.descr);
  const TensorSpec index_spec = describe_tensor(indices, {r.name, Role::kIndices}).spec;
  if (keywords.out.is_none()) {
    return plan_for(r, {described.spec, index_spec})->plan;
  }
  const TensorSpec output = describe_tensor(keywords.out, {r.name, Role::kOutput}).spec;
  return plan_for(r, {described.spec, index_spec, &output})->plan;
}

Plan plan_gather(nb::handle data, nb::handle indices, int64_t axis, int64_t batch_dims,
                 std::string_view out_of_range, std::string_view negative, nb::handle fill_value,
                 nb::handle out) {
  return make(
      Op::kGather, data, indices,
      {{.axis = axis, .batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}},
       out});
}

Plan plan_gather_elements(nb::handle data, nb::handle indices, int64_t axis, bool broadcast,
                          std::string_view out_of_range, std::string_view negative,
                          nb::handle fill_value, nb::handle out) {
  return make(
      Op::kGatherElements, data, indices,
      {{.axis = axis, .broadcast = broadcast, .rule = {out_of_range, negative, fill_value}}, out});
}

Plan plan_gather_nd(nb::handle data, nb::handle indices, int64_t batch_dims,
                    std::string_view out_of_range, std::string_view negative, nb::handle fill_value,
                    nb::handle out) {
  return make(Op::kGatherNd, data, indices,
              {{.batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}}, out});
}

nb::object run_plan(const Plan& plan, nb::handle data, nb::handle indices, nb::handle out,
                    int threads) {
  return execute(plan, view_arrays(plan.request().name, data, indices, out),
                 checked_threads(threads));
}

std::string plan_repr(const Plan& plan) {
  return "<sheaf.Plan " + std::string(to_string(plan.request().op)) + ": " + plan.data().str() +
         ", " + plan.indices().str() + " -> " + plan.output().str() + ">";
}

void bind_spec(nb::module_& module) {
  nb::class_<TensorSpec>(module, "Spec", "A tensor without its memory: dtype, shape and strides.")
      .def("__init__", init_spec, "dtype"_a, "shape"_a, "strides"_a = nb::none(),
           nb::sig("def __init__(self, dtype: typing.Any, shape: typing.Sequence[int], strides: "
                   "typing.Sequence[int] | None = None) -> None"),
           "dtype is a name (\"f32\", \"bfloat16\", \"opaque24\") or a NumPy dtype; strides are in "
           "elements.")
      .def_prop_ro("dtype", [](const TensorSpec& spec) { return spec.dtype.name(); })
      .def_prop_ro(
          "shape", [](const TensorSpec& spec) { return tuple_of(spec.sizes); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "strides", [](const TensorSpec& spec) { return tuple_of(spec.strides); },
          nb::sig("def strides(self) -> tuple[int, ...]"))
      .def("__repr__", [](const TensorSpec& spec) { return "<sheaf.Spec " + spec.str() + ">"; })
      .def("__str__", &TensorSpec::str)
      .def(
          "__eq__",
          [](const TensorSpec& a, nb::handle b) {
            return nb::isinstance<TensorSpec>(b) && a == nb::cast<const TensorSpec&>(b);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"));
}

void bind_plan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan",
                   "One gather, decided: run it as often as you like, from any thread.")
      .def("run", run_plan, "data"_a, "indices"_a, "out"_a = nb::none(), nb::kw_only(),
           "threads"_a = 0,
           nb::sig("def run(self, data: typing.Any, indices: typing.Any, out: typing.Any = None, "
                   "*, threads: int = 0) -> typing.Any"),
           "Moves the elements. The arrays must be laid out as those that were planned for.")
      .def("json", &Plan::json, "The loop nest as a JSON text.")
      .def_prop_ro("data", [](const Plan& plan) { return plan.data(); })
      .def_prop_ro("indices", [](const Plan& plan) { return plan.indices(); })
      .def_prop_ro("output", [](const Plan& plan) { return plan.output(); })
      .def_prop_ro(
          "shape", [](const Plan& plan) { return tuple_of(plan.output().sizes); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The output's shape.")
      .def_prop_ro(
          "dtype", [](const Plan& plan) { return plan.output().dtype.name(); },
          "The name of the output's element type.")
      .def("__str__", &Plan::str)
      .def("__repr__", plan_repr)
      .def(
          "__eq__",
          [](const Plan& a, nb::handle b) {
            return nb::isinstance<Plan>(b) && a == nb::cast<const Plan&>(b);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"));
}

}  // namespace

void bind_plans(nb::module_& module) {
  bind_spec(module);
  bind_plan(module);
  module.def("plan_gather", plan_gather, "data"_a, "indices"_a, nb::kw_only(), "axis"_a = 0,
             "batch_dims"_a = 0, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a = 0, "out"_a = nb::none(), nb::sig(kPlanGatherSignature), kPlanDoc);
  module.def("plan_gather_elements", plan_gather_elements, "data"_a, "indices"_a, nb::kw_only(),
             "axis"_a = 0, "broadcast"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "fill_value"_a = 0, "out"_a = nb::none(),
             nb::sig(kPlanGatherElementsSignature), kPlanDoc);
  module.def("plan_gather_nd", plan_gather_nd, "data"_a, "indices"_a, nb::kw_only(),
             "batch_dims"_a = 0, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a = 0, "out"_a = nb::none(), nb::sig(kPlanGatherNdSignature), kPlanDoc);
}

}  // namespace sheaf::python
