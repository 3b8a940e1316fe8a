// SPDX-License-Identifier: MIT
//
// Spec and Plan, the functions that make plans, and what sheaf.explain() asks the library.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "call.h"
#include "encoded.h"
#include "errors.h"
#include "sheaf/explain.h"
#include "sheaf/gather.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr char kRunSignature[] =
    "def run(self, data: typing.Any, indices: typing.Any, updates: typing.Any = None, out: "
    "typing.Any = None, *, threads: int = 0) -> typing.Any";
constexpr char kRunDoc[] =
    R"(Moves the elements: run(data, indices, updates, out=None) in the plan of a scatter,
run(data, indices, out=None) in that of a gather. The arrays must be laid out as those that were
planned for. A scatter onto zeros, as vjp() makes them, does not read data: it may be None.)";
constexpr char kVjpDoc[] =
    R"(The gradient as a plan, all arrays contiguous but for indices.

Of a gather: a scatter-add onto zeros, run(None, indices, gradient of the output), which gives the
gradient of data. Of a scatter (none or add): a gather, run(gradient of the output, indices), which
gives the gradient of the updates.)";

void init_spec(TensorSpec* self, nb::handle dtype, const std::vector<int64_t>& shape,
               nb::handle strides) {
  const Dims sizes{std::span<const int64_t>(shape)};
  const DType type = dtype_from(dtype, "Spec");
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
  refuse_large_elements(view);
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
  Request r = request_from(op);
  set_options(r, keywords, data.descr);
  r.data = data.spec;
  r.indices = describe_tensor(passed.indices, {r.name, Role::kIndices}).spec;
  if (passed.updates.is_valid()) {
    const Elements like{data.spec.dtype, data.descr};
    r.updates = describe_tensor(passed.updates, {r.name, Role::kUpdates, &like}).spec;
  }
  if (!passed.out.is_none()) {
    r.set_output(describe_tensor(passed.out, {r.name, Role::kOutput}).spec);
  }
  return plan_for(r)->plan;
}

Plan plan_gather(std::string_view op, nb::handle data, nb::handle indices, nb::handle out,
                 int64_t axis, int64_t batch_dims, bool broadcast, std::string_view out_of_range,
                 std::string_view negative, nb::handle fill_value) {
  return make(op_from_name(op), {data, indices, out},
              GatherKeywords{axis, batch_dims, broadcast, out_of_range, negative, fill_value});
}

Plan plan_scatter(std::string_view op, nb::handle data, nb::handle indices, nb::handle updates,
                  nb::handle out, int64_t axis, int64_t batch_dims, std::string_view reduction,
                  bool include_self, bool relaxed, std::string_view accumulate,
                  std::string_view out_of_range, std::string_view negative) {
  return make(op_from_name(op), {data, indices, out, updates},
              ScatterKeywords{axis, batch_dims, reduction, include_self, relaxed, accumulate,
                              out_of_range, negative});
}

// A gather has no updates: its third argument is `out`.
nb::object run_plan(const Plan& plan, nb::handle data, nb::handle indices, nb::handle updates,
                    nb::handle out, int threads) {
  threads = thread_limit(threads);
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

// Equal plans hash equal: only what operator== compares goes in.
size_t plan_hash(const Plan& plan) {
  size_t hash = static_cast<size_t>(plan.nest().row_bytes);
  const auto mix = [&](int64_t value) { hash = hash * 1000003 ^ static_cast<size_t>(value); };
  for (const Loop& loop : plan.nest().loops) {
    for (const int64_t value : {loop.extent, loop.data, loop.index, loop.output}) {
      mix(value);
    }
  }
  for (const Coordinate& coordinate : plan.nest().coordinates) {
    mix(coordinate.extent);
    mix(coordinate.stride);
  }
  mix(static_cast<int64_t>(plan.nest().out_of_range));
  mix(static_cast<int64_t>(plan.nest().reduction));
  return hash;
}

nb::object python_number(const Scalar& scalar) {
  return std::visit(
      [](const auto& value) -> nb::object {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::complex<double>>) {
          return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
        } else {
          return nb::cast(value);
        }
      },
      scalar.value());
}

// A plan is pickled as the call that makes it again. Python has no plans of XLA's general forms.
nb::tuple reduce_plan(const Plan& plan) {
  const Request& r = plan.request();
  const nb::tuple options = nb::make_tuple(
      std::string(to_string(r.op)), r.axis, r.batch_dims, r.broadcast,
      std::string(to_string(r.rule.out_of_range)), std::string(to_string(r.rule.negative)),
      python_number(r.rule.fill_value), std::string(to_string(r.reduction)), r.include_self,
      r.relaxed, r.onto_zeros, std::string(r.accumulate_f32 ? "f32" : ""));
  return nb::make_tuple(nb::module_::import_("sheaf._functions").attr("plan_again"),
                        nb::make_tuple(r.data, r.indices, updates_of(plan), r.output, options));
}

// `options` as in reduce_plan.
Plan plan_again(const TensorSpec& data, const TensorSpec& indices, nb::handle updates,
                const TensorSpec& output, const nb::tuple& options) {
  const auto text = [&](size_t at) { return nb::cast<std::string>(options[at]); };
  const Op op = op_from_name(text(0));
  const std::string out_of_range = text(4);
  const std::string negative = text(5);
  const std::string reduction = text(7);
  const std::string accumulate = text(11);
  const auto axis = nb::cast<int64_t>(options[1]);
  const auto batch_dims = nb::cast<int64_t>(options[2]);
  Request r = request_from(op);
  if (is_scatter(op)) {
    set_options(r,
                ScatterKeywords{axis, batch_dims, reduction, nb::cast<bool>(options[8]),
                                nb::cast<bool>(options[9]), accumulate, out_of_range, negative},
                nullptr);
    r.updates = nb::cast<TensorSpec>(updates);
  } else {
    set_options(r,
                GatherKeywords{axis, batch_dims, nb::cast<bool>(options[3]), out_of_range, negative,
                               options[6]},
                nullptr);
  }
  r.onto_zeros = nb::cast<bool>(options[10]);
  r.data = data;
  r.indices = indices;
  r.set_output(output);
  return make_plan(r);
}

nb::tuple reduce_spec(const TensorSpec& spec) {
  return nb::make_tuple(
      nb::type<TensorSpec>(),
      nb::make_tuple(spec.dtype.name(), tuple_of(spec.sizes), tuple_of(spec.strides)));
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
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const TensorSpec& spec) { return std::hash<std::string>{}(spec.str()); })
      .def("__reduce__", reduce_spec, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
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
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", plan_hash)
      .def("__reduce__", reduce_plan, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  module.def("plan_again", plan_again, "data"_a, "indices"_a, "updates"_a.none(), "output"_a,
             "options"_a,
             nb::sig("def plan_again(data: Spec, indices: Spec, updates: Spec | None, output: "
                     "Spec, options: tuple[typing.Any, ...]) -> Plan"),
             "What pickle calls.");
}

nb::object new_int64(const Dims& sizes) {
  npy_intp shape[kMaxRank];
  std::copy(sizes.begin(), sizes.end(), shape);
  nb::object array = nb::steal(PyArray_SimpleNew(sizes.size(), shape, NPY_INT64));
  if (!array.is_valid()) {
    throw nb::python_error();
  }
  return array;
}

int64_t* elements(const nb::object& array) {
  return static_cast<int64_t*>(PyArray_DATA(as_array(array.ptr())));
}

nb::tuple map_elements(const Plan& plan, nb::handle indices) {
  View view;
  view_array(view, indices, {"explain", Role::kIndices});
  if (view.on_gpu()) {
    raise_argument(refusal_text("explain: indices are on a GPU", "the map is made on the CPU",
                                "a copy of them in CPU memory"));
  }
  if (view.tensor.spec != plan.indices()) {
    raise_argument(
        refusal_text("explain: indices differ from the plan's",
                     "got " + view.tensor.spec.str() + ", planned for " + plan.indices().str(),
                     "a plan for these indices"));
  }
  const std::vector<ElementSource> sources = element_map(plan, view.tensor);
  const Dims& sizes = plan.is_scatter() ? plan.updates().sizes : plan.output().sizes;
  const nb::object data = new_int64(sizes);
  const nb::object index = new_int64(sizes);
  std::transform(sources.begin(), sources.end(), elements(data),
                 [](const ElementSource& source) { return source.data; });
  std::transform(sources.begin(), sources.end(), elements(index),
                 [](const ElementSource& source) { return source.index; });
  return nb::make_tuple(data, index);
}

std::vector<std::pair<std::string, std::string>> kernels(const Plan& plan) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const KernelReport& report : kernels_for(plan)) {
    list.emplace_back(report.name, report.refusal);
  }
  return list;
}

nb::object try_gather(const std::string& backend, nb::handle data, nb::handle indices) {
  const Arrays arrays = view_arrays("try_gather", {data, indices, nb::none()});
  const Plan plan = sheaf::plan_gather(arrays.data.tensor.spec, arrays.indices.tensor.spec);
  Result result(arrays.data, plan.output());
  plan.run(arrays.data.tensor.data, arrays.indices.tensor.data, result.memory(),
           {.kernel = backend});
  return result.finish(false);
}

}  // namespace

void bind_plans(nb::module_& module) {
  bind_spec(module);
  bind_plan(module);
  module.def("plan_gather", plan_gather, "op"_a, "data"_a.none(), "indices"_a.none(),
             "out"_a.none(), nb::kw_only(), "axis"_a = 0, "batch_dims"_a = 0, "broadcast"_a = false,
             "out_of_range"_a = "fail", "negative"_a = "from_end", "fill_value"_a.none() = 0);
  module.def("plan_scatter", plan_scatter, "op"_a, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), "out"_a.none(), nb::kw_only(), "axis"_a = 0, "batch_dims"_a = 0,
             "reduction"_a = "none", "include_self"_a = true, "relaxed"_a = false,
             "accumulate"_a = "", "out_of_range"_a = "fail", "negative"_a = "from_end");
  module.def("element_map", map_elements, "plan"_a, "indices"_a,
             nb::sig("def element_map(plan: Plan, indices: typing.Any) -> tuple[typing.Any, "
                     "typing.Any]"),
             "Two int64 arrays of the output's shape: the element of data (-1: filled) and the "
             "element of indices (-1: none) that each output element comes from, as row-major "
             "numbers. For a scatter, of the updates' shape: the element that each update goes to "
             "(-1: skipped).");
  module.def("kernels", kernels, "plan"_a,
             "Each kernel in the order they are asked, and why it refuses (empty: it accepts).");
  module.def("try_gather", try_gather, "backend"_a, "data"_a, "indices"_a,
             "Rows of data by one backend, for the doctor.");
  module.def("backends", backend_names, "The backends of this build, fastest first.");
}

}  // namespace sheaf::python
