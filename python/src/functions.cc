// SPDX-License-Identifier: MIT
//
// The functions that move elements, as sheaf/_functions.py and its neighbours call them: arrays by
// position, options by keyword. take, take_along_axis and put_along_axis speak NumPy.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "call.h"
#include "errors.h"
#include "plan/infer.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

Call numpy_call(Op op, std::string_view name, const IndexRule& rule, int threads) {
  Call call(op);
  call.request.name = name;
  call.request.rule = rule;
  call.threads = thread_limit(threads);
  call.overlap_allowed = true;
  return call;
}

nb::object take(nb::handle x, nb::handle indices, nb::handle axis, nb::handle out,
                std::string_view mode, int threads) {
  if (is_table(x) && !axis.is_none() && mode == "raise") {
    return gather_from_table(Op::kGather, x, indices, {.axis = integer_from(axis)}, out);
  }
  Call call = numpy_call(Op::kGather, "take", rule_from_mode(mode), threads);
  call.index_hint = "mode=\"clip\" or \"wrap\"";
  call.scalar_result = true;
  if (!axis.is_none()) {
    call.request.axis = integer_from(axis);
  }
  Arrays arrays = view_arrays(call.request.name, {x, indices, out});
  if (axis.is_none() || arrays.data.rank() == 0) {
    arrays.data = flattened(arrays.data, arrays.placement, call.request.name);
  }
  spread_large_elements(call.request, arrays);
  return execute(call, arrays);
}

nb::object take_along_axis(nb::handle x, nb::handle indices, nb::handle axis, nb::handle out,
                           int threads) {
  Call call = numpy_call(Op::kGatherElements, "take_along_axis", {}, threads);
  call.index_hint = "gather_elements(..., broadcast=True, out_of_range=\"clamp\")";
  call.request.broadcast = true;
  if (!axis.is_none()) {
    call.request.axis = integer_from(axis);
  }
  Arrays arrays = view_arrays(call.request.name, {x, indices, out});
  if (axis.is_none()) {
    arrays.data = flattened(arrays.data, arrays.placement, call.request.name);
  }
  spread_large_elements(call.request, arrays);
  return execute(call, arrays);
}

nb::object run_gather(std::string_view op, nb::handle data, nb::handle indices, nb::handle out,
                      int64_t axis, int64_t batch_dims, bool broadcast,
                      std::string_view out_of_range, std::string_view negative,
                      nb::handle fill_value, int threads, bool inside_operator) {
  const Op which = op_from_name(op);
  const GatherKeywords keywords{axis, batch_dims, broadcast, out_of_range, negative, fill_value};
  if (is_table(data)) {
    return gather_from_table(which, data, indices, keywords, out);
  }
  Arrays arrays = view_arrays(to_string(which), {data, indices, out, {}, inside_operator});
  Call call(which);
  set_options(call.request, keywords, arrays.data.descr());
  spread_large_elements(call.request, arrays);
  call.threads = thread_limit(threads);
  return execute(call, arrays);
}

// Lets updates repeat to the shape that the operator wants. What does not fit stays as it is, and
// is refused by the plan.
void stretch_updates(const Request& options, Arrays& arrays) {
  Request r = options;
  set_inputs(r, arrays);
  r.output = r.data;
  try {
    stretch(arrays.updates, infer_sizes(r));
  } catch (const Error&) {
  }
}

nb::object run_scatter(std::string_view op, nb::handle data, nb::handle indices, nb::handle updates,
                       nb::handle out, int64_t axis, int64_t batch_dims, std::string_view reduction,
                       bool include_self, bool relaxed, std::string_view accumulate,
                       std::string_view out_of_range, std::string_view negative, int threads,
                       bool inside_operator) {
  const Op which = op_from_name(op);
  Arrays arrays = view_arrays(to_string(which), {data, indices, out, updates, inside_operator});
  Call call(which);
  set_options(call.request,
              ScatterKeywords{axis, batch_dims, reduction, include_self, relaxed, accumulate,
                              out_of_range, negative},
              arrays.data.descr());
  call.threads = thread_limit(threads);
  spread_large_elements(call.request, arrays);
  if (inside_operator) {
    accumulate_where_narrow(call.request, arrays.data.tensor.spec.dtype);
  } else {  // the schema of an operator asks for the full shape
    stretch_updates(call.request, arrays);
  }
  return execute(call, arrays);
}

// The gradient of a gather: its updates are added up in zeros of the given shape, narrow floats in
// f32.
nb::object run_scatter_zeros(std::string_view op, nb::handle updates, nb::handle indices,
                             const std::vector<int64_t>& shape, int64_t axis, int64_t batch_dims,
                             std::string_view out_of_range, std::string_view negative) {
  const Op which = op_from_name(op);
  Arrays arrays = view_arrays(to_string(which), {{}, indices, nb::none(), updates, true});
  arrays.data.tensor.spec =
      TensorSpec(arrays.updates.tensor.spec.dtype, Dims{std::span<const int64_t>(shape)});
  Call call(which);
  set_options(call.request,
              ScatterKeywords{.axis = axis,
                              .batch_dims = batch_dims,
                              .reduction = "add",
                              .accumulate = "f32",
                              .out_of_range = out_of_range,
                              .negative = negative},
              nullptr);
  accumulate_where_narrow(call.request, arrays.updates.tensor.spec.dtype);
  call.request.onto_zeros = true;
  call.threads = thread_limit(0);
  return execute(call, arrays);
}

nb::object run_xla_gather(nb::handle data, nb::handle indices, const std::vector<int64_t>& offset,
                          const std::vector<int64_t>& collapsed,
                          const std::vector<int64_t>& batching,
                          const std::vector<int64_t>& indices_batching,
                          const std::vector<int64_t>& map, int64_t index_vector_dim,
                          const std::vector<int64_t>& slice_sizes, std::string_view out_of_range,
                          nb::handle fill_value, int threads) {
  const Arrays arrays = view_arrays("xla_gather", {data, indices, nb::none()});
  Call call(Op::kXlaGather);
  set_options(
      call.request,
      GatherKeywords{
          .out_of_range = out_of_range, .negative = "out_of_range", .fill_value = fill_value},
      arrays.data.descr());
  call.request.xla = xla_options_from(
      {offset, collapsed, batching, indices_batching, map, index_vector_dim, slice_sizes});
  call.threads = thread_limit(threads);
  return execute(call, arrays);
}

nb::object run_xla_scatter(nb::handle data, nb::handle indices, nb::handle updates,
                           const std::vector<int64_t>& window, const std::vector<int64_t>& inserted,
                           const std::vector<int64_t>& batching,
                           const std::vector<int64_t>& indices_batching,
                           const std::vector<int64_t>& map, int64_t index_vector_dim,
                           std::string_view reduction, std::string_view out_of_range, int threads) {
  const Arrays arrays = view_arrays("xla_scatter", {data, indices, nb::none(), updates});
  Call call(Op::kXlaScatter);
  set_options(call.request,
              ScatterKeywords{
                  .reduction = reduction, .out_of_range = out_of_range, .negative = "out_of_range"},
              arrays.data.descr());
  call.request.skip_whole_window = true;
  call.request.xla =
      xla_options_from({window, inserted, batching, indices_batching, map, index_vector_dim, {}});
  call.threads = thread_limit(threads);
  return execute(call, arrays);
}

// NumPy converts what is assigned to an array of its own.
nb::object assignable(const View& arr, nb::handle values) {
  if (!arr.is_numpy()) {
    return nb::borrow(values);
  }
  try {
    return nb::module_::import_("sheaf._interop").attr("assignable")(values, arr.dtype);
  } catch (nb::python_error& error) {
    raise_as_refusal(error, "put_along_axis: values do not fit",
                     cat("values that NumPy converts to ", nb::str(arr.dtype).c_str()));
  }
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
  Call call = numpy_call(Op::kScatterElements, "put_along_axis", {}, threads);
  call.index_hint = "scatter_elements(..., out_of_range=\"skip\")";
  call.request.axis = axis.is_none() ? 0 : integer_from(axis);
  View whole;
  view_array(whole, arr, {call.request.name, Role::kOutput});
  const nb::object assigned = assignable(whole, values);
  Arrays arrays = view_arrays(call.request.name, {arr, indices, arr, assigned});
  if (axis.is_none()) {
    arrays.data = flattened(arrays.data, arrays.placement, call.request.name);
    arrays.out = arrays.data;
  }
  spread_large_elements(call.request, arrays);
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

void bind_functions(nb::module_& module) {
  module.def("take", take, "x"_a.none(), "indices"_a.none(), "axis"_a.none(), "out"_a.none(),
             "mode"_a, "threads"_a);
  module.def("take_along_axis", take_along_axis, "x"_a.none(), "indices"_a.none(), "axis"_a.none(),
             "out"_a.none(), "threads"_a);
  module.def("put_along_axis", put_along_axis, "arr"_a.none(), "indices"_a.none(),
             "values"_a.none(), "axis"_a.none(), "threads"_a);
  module.def("run_gather", run_gather, "op"_a, "data"_a.none(), "indices"_a.none(), "out"_a.none(),
             nb::kw_only(), "axis"_a = 0, "batch_dims"_a = 0, "broadcast"_a = false,
             "out_of_range"_a = "fail", "negative"_a = "from_end", "fill_value"_a.none() = 0,
             "threads"_a = 0, "inside_operator"_a = false);
  module.def("run_scatter", run_scatter, "op"_a, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), "out"_a.none(), nb::kw_only(), "axis"_a = 0, "batch_dims"_a = 0,
             "reduction"_a = "none", "include_self"_a = true, "relaxed"_a = false,
             "accumulate"_a = "", "out_of_range"_a = "fail", "negative"_a = "from_end",
             "threads"_a = 0, "inside_operator"_a = false);
  module.def("run_scatter_zeros", run_scatter_zeros, "op"_a, "updates"_a, "indices"_a, "shape"_a,
             nb::kw_only(), "axis"_a, "batch_dims"_a, "out_of_range"_a, "negative"_a);
  module.def("run_xla_gather", run_xla_gather, "data"_a.none(), "indices"_a.none(), "offset_dims"_a,
             "collapsed_slice_dims"_a, "operand_batching_dims"_a, "start_indices_batching_dims"_a,
             "start_index_map"_a, "index_vector_dim"_a, "slice_sizes"_a, "out_of_range"_a,
             "fill_value"_a.none(), "threads"_a);
  module.def("run_xla_scatter", run_xla_scatter, "data"_a.none(), "indices"_a.none(),
             "updates"_a.none(), "update_window_dims"_a, "inserted_window_dims"_a,
             "operand_batching_dims"_a, "scatter_indices_batching_dims"_a,
             "scatter_dims_to_operand_dims"_a, "index_vector_dim"_a, "reduction"_a,
             "out_of_range"_a, "threads"_a);
  module.def("are_plain_tensors", are_plain_tensors, "data"_a, "indices"_a,
             "updates"_a.none() = nb::none());
  module.def("is_call_watched", is_call_watched);
  module.def("reductions", reductions, nb::sig("def reductions() -> dict[str, str]"),
             "Each word for a reduction, and its name here.");
  module.def("set_process_threads", set_process_threads, "threads"_a);
  module.def("set_own_threads", set_own_threads, "threads"_a);
  module.def("thread_limit", [] { return thread_limit(0); });
}

}  // namespace sheaf::python
