// SPDX-License-Identifier: MIT
//
// What sheaf.explain() is told by the library: the element map and the kernels.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "sheaf/explain.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

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

}  // namespace

void bind_explain(nb::module_& module) {
  module.def("element_map", map_elements, "plan"_a, "indices"_a,
             nb::sig("def element_map(plan: Plan, indices: typing.Any) -> tuple[typing.Any, "
                     "typing.Any]"),
             "Two int64 arrays of the output's shape: the element of data (-1: filled) and the "
             "element of indices (-1: none) that each output element comes from, as row-major "
             "numbers. For a scatter, of the updates' shape: the element that each update goes to "
             "(-1: skipped).");
  module.def("kernels", kernels, "plan"_a,
             "Each kernel in the order they are asked, and why it refuses (empty: it accepts).");
  module.def("backends", backend_names, "The backends of this build, fastest first.");
}

}  // namespace sheaf::python
