// SPDX-License-Identifier: MIT
//
// The order of a mixture of experts. sheaf/moe.py has what users see.
#include <nanobind/nanobind.h>

#include <functional>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "gpu_run.h"
#include "sheaf/moe.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr const char* kCall = "moe.permute";

// An array of integers as one of NumPy's, which keeps its memory.
nb::object numpy_from(Array&& array) {
  npy_intp shape[kMaxRank];
  std::copy(array.sizes().begin(), array.sizes().end(), shape);
  const int rank = array.spec().rank();
  auto owned = std::make_unique<Array>(std::move(array));
  void* const memory = owned->tensor().data;
  const nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  owned.release();
  nb::object result = nb::steal(PyArray_SimpleNewFromData(rank, shape, NPY_INT64, memory));
  if (!result.is_valid()) {
    throw nb::python_error();
  }
  Py_INCREF(owner.ptr());  // the call below takes one
  if (PyArray_SetBaseObject(as_array(result.ptr()), owner.ptr()) != 0) {
    throw nb::python_error();
  }
  return result;
}

nb::object like(const View& view, Array&& array) {
  const nb::object made = numpy_from(std::move(array));
  return view.is_numpy()
             ? made
             : nb::module_::import_("sheaf._interop").attr("array_like")(view.object, made);
}

// What both ways give: rows (or None: a gather of tokens has them), sources, inverse, offsets.
nb::object route_on_host(const View& view, const MoeOptions& experts, int threads) {
  const RunOptions options{.threads = thread_limit(threads)};
  std::optional<MoeRouting> routing;
  refuse_if_changed(view, kCall);
  without_gil([&] { routing = moe_route(view.tensor, experts, options); });
  return nb::make_tuple(nb::none(), like(view, std::move(routing->sources)),
                        like(view, std::move(routing->inverse)),
                        like(view, std::move(routing->offsets)));
}

bool has_gradient(nb::handle tokens) {
  return nb::hasattr(tokens, "requires_grad") && nb::cast<bool>(tokens.attr("requires_grad"));
}

// Tokens that a plan can have: their rows are written at once.
std::optional<MoePlan> plan_of_rows(const View& tokens, const View& experts,
                                    const MoeOptions& options) {
  if (!is_gpu(tokens.device) || !tokens.whole_strides || has_gradient(tokens.object)) {
    return std::nullopt;
  }
  try {
    return plan_moe_permute(tokens.tensor.spec, experts.tensor.spec, options);
  } catch (const Error&) {
    return std::nullopt;  // rows with gaps; what else is wrong the plan without tokens finds as
                          // well
  }
}

nb::object route_on_gpu(const View& experts, const View& tokens, const Placement& placement,
                        MoeOptions options) {
  const TensorSpec& spec = experts.tensor.spec;
  const int64_t count = element_count(spec.sizes);
  if (options.experts < 0) {
    options.experts =
        count == 0 ? 0 : nb::cast<int64_t>(nb::int_(experts.object.attr("max")())) + 1;
  }
  const auto with_rows = plan_of_rows(tokens, experts, options);
  const MoePlan plan =
      with_rows
          ? *with_rows
          : plan_moe_permute(TensorSpec(u8, {spec.rank() > 0 ? spec.sizes[0] : 0}), spec, options);
  const auto integers = [&](const Dims& sizes) { return Result(experts, TensorSpec(i64, sizes)); };
  std::optional<Result> rows;
  if (with_rows) {
    Dims sizes = tokens.tensor.spec.sizes;
    sizes[0] = count;
    rows.emplace(tokens, TensorSpec(tokens.tensor.spec.dtype, sizes));
  }
  Result sources = integers({count});
  Result inverse = integers(spec.sizes);
  Result offsets = integers({options.experts + 1});
  const MoeMemory memory{tokens.tensor.data, experts.tensor.data, rows ? rows->memory() : nullptr,
                         sources.memory(),   inverse.memory(),    offsets.memory()};
  const auto start = [&](const Queue& queue, const RunOptions& run_options) {
    run(plan, memory, queue, run_options);
  };
  run_on_gpu(placement, plan, true, true, start, std::function<void()>([&] {
               refuse_if_changed(experts, kCall);
               refuse_if_changed(tokens, kCall);
             }));
  return nb::make_tuple(rows ? rows->finish(false) : nb::none(), sources.finish(false),
                        inverse.finish(false), offsets.finish(false));
}

nb::object route(nb::handle tokens, nb::handle experts, int64_t number, int64_t capacity,
                 int threads) {
  Placement placement;
  View view;
  view_array(view, experts, {kCall, Role::kIndices, nullptr, &placement});
  refuse_large_elements(view);
  try {
    if (!placement.on_gpu) {
      return route_on_host(view, {number, capacity}, threads);
    }
    placement.inside_operator = true;  // gradients of tokens are those of a gather
    View table;
    view_array(table, tokens, {kCall, Role::kData, nullptr, &placement});
    return route_on_gpu(view, table, placement, {number, capacity});
  } catch (const IndexError&) {
    throw;
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

}  // namespace

void bind_moe(nb::module_& module) {
  module.def("moe_route", route, "tokens"_a, "experts"_a, "number"_a, "capacity"_a, "threads"_a);
}

}  // namespace sheaf::python
