// SPDX-License-Identifier: MIT
//
// Tables that lie anywhere, as sheaf/_tables.py calls them: rows come to where indices and output
// are.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "bags.h"
#include "bindings.h"
#include "call.h"
#include "encoded.h"
#include "errors.h"
#include "gpu.h"
#include "plan/encoded_gather.h"
#include "support/text.h"
#include "table_call.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

// The ways that fetch rows have checked indices when they return.
bool reports_at_the_end(const Plan& plan, const Rows& rows, const Queue& queue) {
  if (queue.device.empty() || plan.nest().out_of_range != OutOfRange::kFail) {
    return false;
  }
  std::string way = rows.way;
  if (way.empty()) {
    const std::vector<WayReport> ways = table_ways(plan, rows.table, queue);
    const auto first = std::find_if(ways.begin(), ways.end(),
                                    [](const WayReport& each) { return each.refusal.empty(); });
    way = first == ways.end() ? "" : first->name;
  }
  return way != "ring" && way != "file";
}

Request gather_request(std::string_view op, const Rows& rows, const RowsCall& given,
                       const GatherKeywords& keywords) {
  Request request = request_from(op_from_name(op));
  const View* const array = rows.array();
  set_options(request, keywords, array == nullptr || rows.encoded() ? nullptr : array->descr());
  request.data = rows.table.spec();
  request.indices = given.indices.tensor.spec;
  if (given.out.object.is_valid()) {
    request.set_output(given.out.tensor.spec);
  }
  return request;
}

void gather_plain(const Plan& plan, const Rows& rows, const RowsCall& given, void* output,
                  int threads) {
  const bool reports = reports_at_the_end(plan, rows, queue_of(given, threads));
  run_where_indices_are(
      rows, given, plan.request().name, threads, reports,
      [&](const Queue& queue) { run(plan, rows.table, given.indices.tensor.data, output, queue); },
      [&](const Queue& queue) { finish(plan, rows.table, queue); });
}

void gather_decoded(const EncodedGatherPlan& plan, const Rows& rows, const RowsCall& given,
                    void* output, int threads) {
  run_where_indices_are(
      rows, given, plan.decoded_gather().request().name, threads, false,
      [&](const Queue& queue) { run(plan, rows.table, given.indices.tensor.data, output, queue); },
      [](const Queue& queue) { wait(queue); });
}

EncodedGatherPlan decoding_plan(const Rows& rows, const Request& request, DType type) {
  try {
    return make_encoded_gather(rows.table.info().encoded, request, type);
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

// Calls `run_into(output)` with out's memory, or with that of a new array like `like`.
template <class RunInto>
nb::object into_result(std::string_view call, const View& like, const TensorSpec& spec,
                       const View& out, nb::handle passed_out, const RunInto& run_into) {
  if (!passed_out.is_none()) {
    run_into(out.tensor.data);
    return nb::borrow(passed_out);
  }
  try {
    Result result(like, TensorSpec(spec.dtype, spec.sizes));
    run_into(result.memory());
    return result.finish(false);
  } catch (nb::python_error& error) {
    raise_as_refusal(error, cat(call, ": no array for the result"),
                     "out=, an array for the result");
  }
}

nb::object gather_rows(const Rows& rows, std::string_view op, nb::handle indices, nb::handle out,
                       int64_t axis, int64_t batch_dims, bool broadcast,
                       std::string_view out_of_range, std::string_view negative,
                       nb::handle fill_value, nb::handle dtype, bool packed, int threads) {
  const std::string_view name = to_string(op_from_name(op));
  RowsCall given;
  given.view(given.indices, indices, Role::kIndices, name);
  given.view(given.out, out, Role::kOutput, name);
  check_places(name, rows, given);
  refuse_other_meaning(name, rows, "out", given.out);
  const Request request = gather_request(
      op, rows, given, {axis, batch_dims, broadcast, out_of_range, negative, fill_value});
  const int limit = thread_limit(threads);
  const View& like = kind_of(rows, given);
  if (rows.encoded() && !packed) {
    const DType type = !dtype.is_none() ? dtype_from(dtype, name)
                       : out.is_none()  ? f32
                                        : given.out.tensor.spec.dtype;
    const EncodedGatherPlan plan = decoding_plan(rows, request, type);
    return into_result(name, like, plan.output(), given.out, out,
                       [&](void* output) { gather_decoded(plan, rows, given, output, limit); });
  }
  const auto known = plan_for(request);
  return into_result(name, like, known->plan.output(), given.out, out,
                     [&](void* output) { gather_plain(known->plan, rows, given, output, limit); });
}

std::string explain_rows(const Rows& rows, std::string_view op, nb::handle indices, int64_t axis,
                         int64_t batch_dims, bool broadcast, std::string_view out_of_range,
                         std::string_view negative) {
  RowsCall given;
  given.view(given.indices, indices, Role::kIndices, "explain");
  check_places("explain", rows, given);
  const Request request = gather_request(
      op, rows, given, {axis, batch_dims, broadcast, out_of_range, negative, nb::handle()});
  const auto known = plan_for(request);
  std::string text;
  const Queue queue = queue_of(given, 0);
  without_gil([&] { text = explain(known->plan, rows.table, queue); });
  return text;
}

void prefetch_rows(const Rows& rows, std::string_view op, nb::handle indices, int64_t axis,
                   int64_t batch_dims, bool broadcast, std::string_view negative) {
  RowsCall given;
  given.view(given.indices, indices, Role::kIndices, "prefetch");
  check_places("prefetch", rows, given);
  const Request request =
      gather_request(op, rows, given, {axis, batch_dims, broadcast, "fail", negative});
  const auto known = plan_for(request);
  const bool reports = false;
  run_where_indices_are(
      rows, given, "prefetch", 0, reports,
      [&](const Queue& queue) {
        prefetch(known->plan, rows.table, given.indices.tensor.data, queue);
      },
      [](const Queue& queue) { wait(queue); });
}

nb::object bag_rows(const Rows& rows, nb::handle indices, nb::handle segments, nb::handle weights,
                    nb::handle out, std::string_view pool, std::string_view form, bool last_offset,
                    int64_t bags, nb::handle padding_index, nb::handle empty_value,
                    std::string_view accumulate, nb::handle dtype, std::string_view out_of_range,
                    std::string_view negative, nb::handle fill_value, int threads) {
  BagRequest request;
  request.name = "bag";
  request.specs.data = rows.encoded() ? rows.table.info().encoded : EncodedSpec(rows.table.spec());
  const Elements like = weights_of(request.specs.data);
  RowsCall given;
  given.view(given.indices, indices, Role::kIndices, request.name);
  given.view(given.segments, segments, Role::kSegments, request.name);
  given.view(given.weights, weights, Role::kWeights, request.name, &like);
  given.view(given.out, out, Role::kOutput, request.name);
  check_places(request.name, rows, given);
  const auto spec_of = [](const View& view) {
    return view.object.is_valid() ? std::optional(view.tensor.spec) : std::nullopt;
  };
  request.specs.indices = spec_of(given.indices);
  request.specs.segments = spec_of(given.segments);
  request.specs.weights = spec_of(given.weights);
  const View* const array = rows.array();
  request.options = bag_options(request.name,
                                {pool, form, last_offset, bags, padding_index, empty_value,
                                 accumulate, dtype, out_of_range, negative, fill_value},
                                array == nullptr || rows.encoded() ? nullptr : array->descr());
  if (!out.is_none()) {
    request.output = given.out.tensor.spec;
    if (!request.options.output_type) {
      request.options.output_type = given.out.tensor.spec.dtype;
    }
  }
  const BagPlan plan = bag_plan(request);
  const bool reports = plan.checked_gather() != nullptr || plan.nest().per_bag < 0;
  const View& kind = kind_of(rows, given);
  return into_result(request.name, kind, plan.output(), given.out, out, [&](void* output) {
    const BagMemory memory{.indices = given.indices.tensor.data,
                           .segments = given.segments.tensor.data,
                           .weights = given.weights.tensor.data,
                           .output = output};
    run_where_indices_are(
        rows, given, request.name, thread_limit(threads), reports,
        [&](const Queue& queue) { run(plan, rows.table, memory, queue); },
        [&](const Queue& queue) { finish(plan, rows.table, queue); });
  });
}

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<Rows>(module, "TableRows", "Rows that come to where indices and output are.")
      .def("described", described, nb::sig("def described(self) -> tuple[Any, ...]"))
      .def("with_options", with_options, nb::kw_only(), "way"_a = "",
           "piece_bytes"_a = TableOptions{}.piece_bytes, "pieces"_a = TableOptions{}.pieces,
           "threads"_a = 0, "lock"_a = false, "cache_bytes"_a = 0,
           "cached_rows"_a = std::vector<int64_t>{}, "memory"_a = FileOptions{}.memory,
           "depth"_a = FileOptions{}.depth, "direct"_a = false, "reader"_a = "",
           "cache"_a.none() = nb::none(), nb::keep_alive<0, 13>())
      .def("gather", gather_rows, "op"_a, "indices"_a.none(), "out"_a.none(), nb::kw_only(),
           "axis"_a = 0, "batch_dims"_a = 0, "broadcast"_a = false, "out_of_range"_a = "fail",
           "negative"_a = "from_end", "fill_value"_a.none() = 0, "dtype"_a.none() = nb::none(),
           "packed"_a = false, "threads"_a = 0)
      .def("bag", bag_rows, "indices"_a.none(), "segments"_a.none(), "weights"_a.none(),
           "out"_a.none(), nb::kw_only(), "pool"_a = "sum", "form"_a = "offsets",
           "last_offset"_a = false, "bags"_a = -1, "padding_index"_a.none() = nb::none(),
           "empty_value"_a.none() = 0, "accumulate"_a = "f32", "dtype"_a.none() = nb::none(),
           "out_of_range"_a = "fail", "negative"_a = "from_end", "fill_value"_a.none() = 0,
           "threads"_a = 0)
      .def("scatter", scatter_rows, "op"_a, "indices"_a.none(), "updates"_a.none(), nb::kw_only(),
           "axis"_a = 0, "batch_dims"_a = 0, "reduction"_a = "none", "include_self"_a = true,
           "relaxed"_a = false, "accumulate"_a = "", "out_of_range"_a = "fail",
           "negative"_a = "from_end", "threads"_a = 0)
      .def("prefetch", prefetch_rows, "op"_a, "indices"_a.none(), nb::kw_only(), "axis"_a = 0,
           "batch_dims"_a = 0, "broadcast"_a = false, "negative"_a = "from_end")
      .def("explain", explain_rows, "op"_a, "indices"_a.none(), nb::kw_only(), "axis"_a = 0,
           "batch_dims"_a = 0, "broadcast"_a = false, "out_of_range"_a = "fail",
           "negative"_a = "from_end")
      .def("stats", stats_of, nb::sig("def stats(self) -> dict[str, Any]"))
      .def("forget_cached_rows", [](const Rows& rows) { forget_cached_rows(rows.table); });
  module.def("rows_of_file", rows_of_file, "table"_a, "The rows of a table in a file.");
  module.def("rows_of_array", rows_of_array, "data"_a.none(),
             "The rows of an array, or of a sheaf.Encoded.");
}

}  // namespace sheaf::python
