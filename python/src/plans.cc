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
#include "sheaf/scatter.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

DType dtype_from(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) {
    return dtype_from_name(nb::cast<std::string>(object));
  }
  const nb::object descr = nb::module_::import_("numpy").attr("dtype")(object);
  return dtype_from_numpy(reinterpret_cast<PyArray_Descr*>(descr.ptr()), {"Spec", Role::kData});
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

// `Keywords` are those of a gather or of a scatter.
template <class Keywords>
Plan make(Op op, const Passed& passed, const Keywords& keywords) {
  const Described data = describe_tensor(passed.data, {to_string(op), Role::kData});
  const Request r = request_from(op, keywords, data.descr);
  const TensorSpec indices = describe_tensor(passed.indices, {r.name, Role::kIndices}).spec;
  TensorSpec updates;
  if (passed.updates.is_valid()) {
    const Elements like{data.spec.dtype, data.descr};
    updates = describe_tensor(passed.updates, {r.name, Role::kUpdates, &like}).spec;
  }
  if (passed.out.is_none()) {
    return plan_for(r, {data.spec, indices, updates})->plan;
  }
  const TensorSpec output = describe_tensor(passed.out, {r.name, Role::kOutput}).spec;
  return plan_for(r, {data.spec, indices, updates, &output})->plan;
}

Plan plan_gather(nb::handle data, nb::handle indices, int64_t axis, int64_t batch_dims,
                 std::string_view out_of_range, std::string_view negative, nb::handle fill_value,
                 nb::handle out) {
  return make(
      Op::kGather, {data, indices, out},
      GatherKeywords{
          .axis = axis, .batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}});
}

Plan plan_gather_elements(nb::handle data, nb::handle indices, int64_t axis, bool broadcast,
                          std::string_view out_of_range, std::string_view negative,
                          nb::handle fill_value, nb::handle out) {
  return make(
      Op::kGatherElements, {data, indices, out},
      GatherKeywords{
          .axis = axis, .broadcast = broadcast, .rule = {out_of_range, negative, fill_value}});
}

Plan plan_gather_nd(nb::handle data, nb::handle indices, int64_t batch_dims,
                    std::string_view out_of_range, std::string_view negative, nb::handle fill_value,
                    nb::handle out) {
  return make(
      Op::kGatherNd, {data, indices, out},
      GatherKeywords{.batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}});
}

Plan plan_scatter(nb::handle data, nb::handle indices, nb::handle updates, int64_t axis,
                  int64_t batch_dims, std::string_view reduction, bool include_self, bool relaxed,
                  std::string_view out_of_range, std::string_view negative, nb::handle out) {
  return make(
      Op::kScatter, {data, indices, out, updates},
      ScatterKeywords{axis, batch_dims, reduction, include_self, relaxed, out_of_range, negative});
}

Plan plan_scatter_elements(nb::handle data, nb::handle indices, nb::handle updates, int64_t axis,
                           std::string_view reduction, bool include_self, bool relaxed,
                           std::string_view out_of_range, std::string_view negative,
                           nb::handle out) {
  return make(Op::kScatterElements, {data, indices, out, updates},
              ScatterKeywords{axis, 0, reduction, include_self, relaxed, out_of_range, negative});
}

Plan plan_scatter_nd(nb::handle data, nb::handle indices, nb::handle updates, int64_t batch_dims,
                     std::string_view reduction, bool include_self, bool relaxed,
                     std::string_view out_of_range, std::string_view negative, nb::handle out) {
  return make(
      Op::kScatterNd, {data, indices, out, updates},
      ScatterKeywords{0, batch_dims, reduction, include_self, relaxed, out_of_range, negative});
}

// A gather has no updates: its third argument is `out`.
nb::object run_plan(const Plan& plan, nb::handle data, nb::handle indices, nb::handle updates,
                    nb::handle out, int threads) {
  checked_threads(threads);
  if (plan.is_scatter()) {
    if (updates.is_none()) {
      raise_argument(refusal_text("plan: updates are missing", "this is the plan of a scatter",
                                  "run(data, indices, updates)"));
    }
    return execute(plan, {data, indices, out, updates}, threads);
  }
  if (!updates.is_none() && !out.is_none()) {
    raise_argument(refusal_text("plan: one array too many", "this is the plan of a gather",
                                "run(data, indices, out)"));
  }
  return execute(plan, {data, indices, updates.is_none() ? out : updates}, threads);
}

std::string plan_repr(const Plan& plan) {
  return "<sheaf.Plan " + std::string(to_string(plan.request().op)) + ": " + plan.data().str() +
         ", " + plan.indices().str() + (plan.is_scatter() ? ", " + plan.updates().str() : "") +
         " -> " + plan.output().str() + ">";
}

nb::object updates_of(const Plan& plan) {
  return plan.is_scatter() ? nb::cast(plan.updates()) : nb::none();
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
                   "One gather or scatter, decided: run it as often as you like, from any thread.")
      .def("run", run_plan, "data"_a.none(), "indices"_a.none(), "updates"_a = nb::none(),
           "out"_a = nb::none(), nb::kw_only(), "threads"_a = 0, nb::sig(kRunSignature), kRunDoc)
      .def("vjp", vjp, kVjpDoc)
      .def("json", &Plan::json, "The loop nest as a JSON text.")
      .def_prop_ro("data", [](const Plan& plan) { return plan.data(); })
      .def_prop_ro("indices", [](const Plan& plan) { return plan.indices(); })
      .def_prop_ro("updates", updates_of, nb::sig("def updates(self) -> Spec | None"),
                   "None in the plan of a gather.")
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
  module.def("plan_gather", plan_gather, "data"_a.none(), "indices"_a.none(), nb::kw_only(),
             "axis"_a = 0, "batch_dims"_a = 0, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a.none() = 0, "out"_a = nb::none(), nb::sig(kPlanGatherSignature),
             kPlanDoc);
  module.def("plan_gather_elements", plan_gather_elements, "data"_a.none(), "indices"_a.none(),
             nb::kw_only(), "axis"_a = 0, "broadcast"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "fill_value"_a.none() = 0, "out"_a = nb::none(),
             nb::sig(kPlanGatherElementsSignature), kPlanDoc);
  module.def("plan_gather_nd", plan_gather_nd, "data"_a.none(), "indices"_a.none(), nb::kw_only(),
             "batch_dims"_a = 0, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a.none() = 0, "out"_a = nb::none(), nb::sig(kPlanGatherNdSignature),
             kPlanDoc);
  module.def("plan_scatter", plan_scatter, "data"_a.none(), "indices"_a.none(), "updates"_a.none(),
             "axis"_a = 0, nb::kw_only(), "batch_dims"_a = 0, "reduction"_a = "none",
             "include_self"_a = true, "relaxed"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "out"_a = nb::none(), nb::sig(kPlanScatterSignature),
             kPlanDoc);
  module.def("plan_scatter_elements", plan_scatter_elements, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), "axis"_a = 0, nb::kw_only(), "reduction"_a = "none",
             "include_self"_a = true, "relaxed"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "out"_a = nb::none(),
             nb::sig(kPlanScatterElementsSignature), kPlanDoc);
  module.def("plan_scatter_nd", plan_scatter_nd, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), nb::kw_only(), "batch_dims"_a = 0, "reduction"_a = "none",
             "include_self"_a = true, "relaxed"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "out"_a = nb::none(), nb::sig(kPlanScatterNdSignature),
             kPlanDoc);
}

}  // namespace sheaf::python
