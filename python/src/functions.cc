// SPDX-License-Identifier: MIT
//
// The functions that move elements. take and take_along_axis speak NumPy, the others Sheaf.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "call.h"
#include "docs.h"
#include "errors.h"
#include "files.h"
#include "options.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

Call numpy_call(Op op, std::string_view name, const IndexRule& rule, int threads) {
  Call call;
  call.request.op = op;
  call.request.name = name;
  call.request.rule = rule;
  call.threads = checked_threads(threads);
  call.overlap_allowed = true;
  return call;
}

nb::object take(nb::handle x, nb::handle indices, nb::handle axis, nb::handle out,
                std::string_view mode, int threads) {
  if (is_table(x) && !axis.is_none() && mode == "raise") {
    return gather_from_table(Op::kGather, x, indices,
                             {.axis = integer_from(axis), .rule = {"fail", "from_end", {}}}, out);
  }
  Call call = numpy_call(Op::kGather, "take", rule_from_mode(mode), threads);
  call.scalar_result = true;
  Arrays arrays = view_arrays(call.request.name, {x, indices, out});
  if (!axis.is_none()) {
    call.request.axis = integer_from(axis);
  }
  if (axis.is_none() || arrays.data.tensor.spec.rank() == 0) {
    arrays.data = flattened(arrays.data, arrays.lane);
  }
  return execute(call, arrays);
}

nb::object take_along_axis(nb::handle x, nb::handle indices, nb::handle axis, nb::handle out,
                           int threads) {
  Call call = numpy_call(Op::kGatherElements, "take_along_axis", {}, threads);
  call.request.broadcast = true;
  Arrays arrays = view_arrays(call.request.name, {x, indices, out});
  if (axis.is_none()) {
    arrays.data = flattened(arrays.data, arrays.lane);
  } else {
    call.request.axis = integer_from(axis);
  }
  return execute(call, arrays);
}

struct RunKeywords {
  GatherKeywords gather;
  int threads;
  nb::handle out;
};

nb::object run_gather(Op op, nb::handle data, nb::handle indices, const RunKeywords& keywords) {
  if (is_table(data)) {
    return gather_from_table(op, data, indices, keywords.gather, keywords.out);
  }
  const Arrays arrays = view_arrays(to_string(op), {data, indices, keywords.out});
  Call call;
  call.request = request_from(op, keywords.gather, arrays.data.descr());
  call.threads = checked_threads(keywords.threads);
  return execute(call, arrays);
}

nb::object gather(nb::handle data, nb::handle indices, int64_t axis, int64_t batch_dims,
                  std::string_view out_of_range, std::string_view negative, nb::handle fill_value,
                  int threads, nb::handle out) {
  return run_gather(
      Op::kGather, data, indices,
      {{.axis = axis, .batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}},
       threads,
       out});
}

nb::object gather_elements(nb::handle data, nb::handle indices, int64_t axis, bool broadcast,
                           std::string_view out_of_range, std::string_view negative,
                           nb::handle fill_value, int threads, nb::handle out) {
  return run_gather(
      Op::kGatherElements, data, indices,
      {{.axis = axis, .broadcast = broadcast, .rule = {out_of_range, negative, fill_value}},
       threads,
       out});
}

nb::object gather_nd(nb::handle data, nb::handle indices, int64_t batch_dims,
                     std::string_view out_of_range, std::string_view negative,
                     nb::handle fill_value, int threads, nb::handle out) {
  return run_gather(
      Op::kGatherNd, data, indices,
      {{.batch_dims = batch_dims, .rule = {out_of_range, negative, fill_value}}, threads, out});
}

}  // namespace

void bind_functions(nb::module_& module) {
  module.def("take", take, "x"_a, "indices"_a, "axis"_a = nb::none(), "out"_a = nb::none(),
             "mode"_a = "raise", nb::kw_only(), "threads"_a = 0, nb::sig(kTakeSignature), kTakeDoc);
  module.def("take_along_axis", take_along_axis, "x"_a, "indices"_a, "axis"_a.none() = -1,
             nb::kw_only(), "out"_a = nb::none(), "threads"_a = 0, nb::sig(kTakeAlongAxisSignature),
             kTakeAlongAxisDoc);
  module.def("gather", gather, "data"_a, "indices"_a, nb::kw_only(), "axis"_a = 0,
             "batch_dims"_a = 0, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a = 0, "threads"_a = 0, "out"_a = nb::none(), nb::sig(kGatherSignature),
             kGatherDoc);
  module.def("gather_elements", gather_elements, "data"_a, "indices"_a, nb::kw_only(), "axis"_a = 0,
             "broadcast"_a = false, "out_of_range"_a = "fail", "negative"_a = "from_end",
             "fill_value"_a = 0, "threads"_a = 0, "out"_a = nb::none(),
             nb::sig(kGatherElementsSignature), kGatherElementsDoc);
  module.def("gather_nd", gather_nd, "data"_a, "indices"_a, nb::kw_only(), "batch_dims"_a = 0,
             "out_of_range"_a = "fail", "negative"_a = "from_end", "fill_value"_a = 0,
             "threads"_a = 0, "out"_a = nb::none(), nb::sig(kGatherNdSignature), kGatherNdDoc);
}

}  // namespace sheaf::python
