// SPDX-License-Identifier: MIT
//
// The scatters. put_along_axis speaks NumPy, the others Sheaf.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "call.h"
#include "docs.h"
#include "errors.h"
#include "options.h"
#include "results.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

struct RunKeywords {
  ScatterKeywords scatter;
  int threads;
};

nb::object run_scatter(Op op, const Passed& passed, const RunKeywords& keywords) {
  const Arrays arrays = view_arrays(to_string(op), passed);
  Call call;
  call.request = request_from(op, keywords.scatter, arrays.data.descr());
  call.threads = checked_threads(keywords.threads);
  return execute(call, arrays);
}

nb::object scatter(nb::handle data, nb::handle indices, nb::handle updates, int64_t axis,
                   int64_t batch_dims, std::string_view reduction, bool include_self, bool relaxed,
                   std::string_view out_of_range, std::string_view negative, int threads,
                   nb::handle out) {
  return run_scatter(
      Op::kScatter, {data, indices, out, updates},
      {{axis, batch_dims, reduction, include_self, relaxed, out_of_range, negative}, threads});
}

nb::object scatter_elements(nb::handle data, nb::handle indices, nb::handle updates, int64_t axis,
                            std::string_view reduction, bool include_self, bool relaxed,
                            std::string_view out_of_range, std::string_view negative, int threads,
                            nb::handle out) {
  return run_scatter(
      Op::kScatterElements, {data, indices, out, updates},
      {{axis, 0, reduction, include_self, relaxed, out_of_range, negative}, threads});
}

nb::object scatter_nd(nb::handle data, nb::handle indices, nb::handle updates, int64_t batch_dims,
                      std::string_view reduction, bool include_self, bool relaxed,
                      std::string_view out_of_range, std::string_view negative, int threads,
                      nb::handle out) {
  return run_scatter(
      Op::kScatterNd, {data, indices, out, updates},
      {{0, batch_dims, reduction, include_self, relaxed, out_of_range, negative}, threads});
}

// NumPy converts what is assigned to an array of its own.
nb::object assignable(const View& arr, nb::handle values) {
  if (!arr.is_numpy()) {
    return nb::borrow(values);
  }
  const nb::handle dtype(reinterpret_cast<PyObject*>(arr.descr()));
  return nb::module_::import_("sheaf._interop").attr("assignable")(values, dtype);
}

// The shape in which indices and values meet: that of arr, but for the axis.
Dims common_sizes(const Arrays& arrays, int64_t axis) {
  Dims sizes = arrays.data.tensor.spec.sizes;
  const Dims& in_indices = arrays.indices.tensor.spec.sizes;
  const int64_t rank = sizes.size();
  if (in_indices.size() == rank && axis >= -rank && axis < rank) {
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    sizes[at] = in_indices[at];
  }
  return sizes;
}

// The elements of a flat copy to where they came from.
void copy_back(const View& whole, const View& flat, std::string_view call) {
  if (whole.on_gpu()) {
    assign(whole, flat.object);
    return;
  }
  const TensorSpec& spec = whole.tensor.spec;
  copy_into(whole, {flat.tensor.data, TensorSpec(spec.dtype, spec.sizes)}, call);
}

void put_along_axis(nb::handle arr, nb::handle indices, nb::handle values, nb::handle axis,
                    int threads) {
  Call call;
  call.request.op = Op::kScatterElements;
  call.request.name = "put_along_axis";
  call.request.axis = axis.is_none() ? 0 : integer_from(axis);
  call.threads = checked_threads(threads);
  call.overlap_allowed = true;
  View whole;
  view_array(whole, arr, {call.request.name, Role::kOutput});
  const nb::object assigned = assignable(whole, values);
  Arrays arrays = view_arrays(call.request.name, {arr, indices, arr, assigned});
  if (axis.is_none()) {
    arrays.data = flattened(arrays.data, arrays.lane, call.request.name);
    arrays.out = arrays.data;
  }
  const Dims sizes = common_sizes(arrays, call.request.axis);
  if (arrays.indices.tensor.spec.rank() == sizes.size()) {
    stretch(arrays.indices, sizes);
  }
  stretch(arrays.updates, sizes);
  execute(call, arrays);
  if (axis.is_none() && arrays.data.tensor.data != whole.tensor.data) {  // it was a copy
    copy_back(whole, arrays.data, call.request.name);
  }
}

}  // namespace

void bind_scatters(nb::module_& module) {
  module.def("scatter", scatter, "data"_a.none(), "indices"_a.none(), "updates"_a.none(),
             "axis"_a = 0, nb::kw_only(), "batch_dims"_a = 0, "reduction"_a = "none",
             "include_self"_a = true, "relaxed"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "threads"_a = 0, "out"_a = nb::none(),
             nb::sig(kScatterSignature), kScatterDoc);
  module.def("scatter_elements", scatter_elements, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), "axis"_a = 0, nb::kw_only(), "reduction"_a = "none",
             "include_self"_a = true, "relaxed"_a = false, "out_of_range"_a = "fail",
             "negative"_a = "from_end", "threads"_a = 0, "out"_a = nb::none(),
             nb::sig(kScatterElementsSignature), kScatterElementsDoc);
  module.def("scatter_nd", scatter_nd, "data"_a.none(), "indices"_a.none(), "updates"_a.none(),
             nb::kw_only(), "batch_dims"_a = 0, "reduction"_a = "none", "include_self"_a = true,
             "relaxed"_a = false, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "threads"_a = 0, "out"_a = nb::none(), nb::sig(kScatterNdSignature), kScatterNdDoc);
  module.def("put_along_axis", put_along_axis, "arr"_a.none(), "indices"_a.none(),
             "values"_a.none(), "axis"_a.none(), nb::kw_only(), "threads"_a = 0,
             nb::sig(kPutAlongAxisSignature), kPutAlongAxisDoc);
}

}  // namespace sheaf::python
