// SPDX-License-Identifier: MIT
#include "bags.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "bindings.h"
#include "errors.h"
#include "gpu_run.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

template <class Rows>
auto value_named(const Rows& rows, std::string_view option, std::string_view name) {
  if (const auto* row = find_named(rows, name)) {
    return row->value;
  }
  std::string names;
  for (const auto& row : rows) {
    names += cat(names.empty() ? "\"" : &row == &rows.back() ? " or \"" : ", \"", row.name, "\"");
  }
  raise_argument(refusal_text(cat("unknown ", option), cat(option, "=\"", name, "\""), names));
}

// A bag has the rules of a gather, and those of a scatter, which leaves entries out.
OutOfRange bag_rule(std::string_view name) {
  return value_named(kOutOfRanges, "out_of_range", name);
}

bool accumulates_in_f32(std::string_view name) {
  if (!name.empty() && name != "f32") {
    raise_argument(refusal_text("unknown accumulate", cat("accumulate=\"", name, "\""),
                                "\"f32\", or None for the type of the output"));
  }
  return !name.empty();
}

bool given(nb::handle object) { return object.is_valid() && !object.is_none(); }

// Over before another thread would have got the lock: giving it away takes longer.
bool is_short(const BagPlan& plan) {
  constexpr int64_t kElements = 1 << 12;
  const BagNest& nest = plan.nest();
  return nest.entries <= kElements && nest.elements <= kElements && nest.bags <= kElements &&
         nest.entries * nest.elements <= kElements && nest.bags * nest.elements <= kElements;
}

// What can be wrong on a device is known when it has run.
bool has_verdict(const BagPlan& plan) {
  return plan.checked_gather() != nullptr || plan.nest().per_bag < 0;
}

void run_arrays(const BagPlan& plan, const BagArrays& arrays, void* output, int threads,
                bool fresh) {
  run_bag_at(arrays.placement, plan, arrays.memory(output), threads, fresh,
             [&] { refuse_changed(arrays, plan.request().name); });
}

// By a temporary: the strides of out are not whole elements.
void run_by_detour(BagRequest& request, const BagArrays& arrays, int threads) {
  const TensorSpec contiguous(arrays.out.tensor.spec.dtype, arrays.out.tensor.spec.sizes);
  request.output = contiguous;
  const BagPlan plan = bag_plan(request);
  Array temporary(contiguous);
  run_arrays(plan, arrays, temporary.tensor().data, threads, true);
  copy_into(arrays.out, temporary.tensor(), request.name);
}

nb::object execute(BagRequest& request, const BagArrays& arrays, nb::handle out, int threads) {
  if (out.is_none()) {
    const BagPlan plan = bag_plan(request);
    Result result(arrays.data.stored, plan.output());
    run_arrays(plan, arrays, result.memory(), threads, true);
    return result.finish(false);
  }
  if (!request.options.output_type) {
    request.options.output_type = arrays.out.tensor.spec.dtype;
  }
  if (!arrays.out.whole_strides) {
    run_by_detour(request, arrays, threads);
    return nb::borrow(out);
  }
  request.output = arrays.out.tensor.spec;
  run_arrays(bag_plan(request), arrays, arrays.out.tensor.data, threads, false);
  return nb::borrow(out);
}

nb::object run_bag(std::string_view call, nb::handle data, nb::handle indices, nb::handle segments,
                   nb::handle weights, nb::handle out, std::string_view pool, std::string_view form,
                   bool last_offset, int64_t bags, nb::handle padding_index, nb::handle empty_value,
                   std::string_view accumulate, nb::handle dtype, std::string_view out_of_range,
                   std::string_view negative, nb::handle fill_value, int threads,
                   bool inside_operator) {
  BagRequest request;
  request.name = call == "segment_reduce" ? "segment_reduce" : "bag";
  BagArrays arrays;
  view_bag(arrays, request.name, {data, indices, segments, weights, out, inside_operator});
  request.specs = arrays.specs();
  request.options = bag_options(request.name,
                                {pool, form, last_offset, bags, padding_index, empty_value,
                                 accumulate, dtype, out_of_range, negative, fill_value},
                                arrays.data.decodes() ? nullptr : arrays.data.stored.descr());
  try {
    return execute(request, arrays, out, thread_limit(threads));
  } catch (nb::python_error& error) {
    raise_as_refusal(error, cat(request.name, ": no array for the result"),
                     "out=, an array for the result");
  }
}

}  // namespace

BagOptions bag_options(std::string_view call, const BagKeywords& keywords, PyArray_Descr* descr) {
  BagOptions options;
  options.pool = value_named(kPools, "pool", keywords.pool);
  options.segments = value_named(kSegmentForms, "segments", keywords.form);
  options.last_offset = keywords.last_offset;
  options.bags = keywords.bags;
  options.accumulate_f32 = accumulates_in_f32(keywords.accumulate);
  options.rule = {.negative = negative_from(keywords.negative),
                  .out_of_range = bag_rule(keywords.out_of_range)};
  if (given(keywords.padding_index)) {
    options.padding_index = integer_from(keywords.padding_index);
  }
  if (given(keywords.empty_value)) {
    options.empty_value = scalar_from(keywords.empty_value, nullptr);
  }
  if (options.rule.out_of_range == OutOfRange::kFill && given(keywords.fill_value)) {
    options.rule.fill_value = scalar_from(keywords.fill_value, nullptr);
  }
  if (given(keywords.dtype)) {
    options.output_type = dtype_from(keywords.dtype, call);
  }
  if (descr != nullptr && PyTypeNum_ISDATETIME(descr->type_num)) {
    refuse_arithmetic(call, "pool", keywords.pool, descr);
  }
  return options;
}

BagPlan bag_plan(const BagRequest& request) {
  try {
    return make_bag_plan(request);
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

Elements weights_of(const EncodedSpec& data) {
  return {data.encoding == Encoding::kPlain && data.stored.dtype == f64 ? f64 : f32};
}

BagSpecs BagArrays::specs() const {
  const auto spec_of = [](const View& view) {
    return view.object.is_valid() ? std::optional(view.tensor.spec) : std::nullopt;
  };
  return {data.spec, spec_of(indices), spec_of(segments), spec_of(weights)};
}

BagMemory BagArrays::memory(void* output) const {
  return {data.stored.tensor.data,
          data.scales.tensor.data,
          data.zeros.tensor.data,
          indices.tensor.data,
          segments.tensor.data,
          weights.tensor.data,
          output};
}

void view_bag(BagArrays& arrays, std::string_view call, const BagPassed& passed) {
  Placement& placement = arrays.placement;
  placement.inside_operator = passed.inside_operator;
  view_table(arrays.data, passed.data, call, &placement);
  const Elements like = weights_of(arrays.data.spec);
  const auto view = [&](View& into, nb::handle object, Role role) {
    if (!object.is_none()) {
      view_array(into, object, {call, role, role == Role::kWeights ? &like : nullptr, &placement});
      refuse_large_elements(into);
    }
  };
  view(arrays.indices, passed.indices, Role::kIndices);
  view(arrays.segments, passed.segments, Role::kSegments);
  view(arrays.weights, passed.weights, Role::kWeights);
  view(arrays.out, passed.out, Role::kOutput);
  refuse_other_devices(call, placement,
                       {{"data", &arrays.data.stored},
                        {"scales", &arrays.data.scales},
                        {"zeros", &arrays.data.zeros},
                        {"indices", &arrays.indices},
                        {"segments", &arrays.segments},
                        {"weights", &arrays.weights},
                        {"out", &arrays.out}});
}

void refuse_changed(const BagArrays& arrays, std::string_view call) {
  for (const View* view : {&arrays.data.stored, &arrays.data.scales, &arrays.data.zeros,
                           &arrays.indices, &arrays.segments, &arrays.weights, &arrays.out}) {
    refuse_if_changed(*view, call);
  }
}

void run_bag_at(const Placement& placement, const BagPlan& plan, const BagMemory& memory,
                int threads, bool fresh, const std::function<void()>& last_check) {
  if (placement.on_gpu) {
    const auto start = [&](const Queue& queue, const RunOptions& options) {
      run(plan, memory, queue, options);
    };
    run_on_gpu(placement, plan, has_verdict(plan), fresh, start, last_check);
    return;
  }
  last_check();
  const auto work = [&] { plan.run(memory, {.threads = threads, .output_is_fresh = fresh}); };
  is_short(plan) ? work() : without_gil(work);
}

void bind_bags(nb::module_& module) {
  bind_bag_plans(module);
  module.def("run_bag", run_bag, "call"_a, "data"_a.none(), "indices"_a.none(), "segments"_a.none(),
             "weights"_a.none(), "out"_a.none(), nb::kw_only(), "pool"_a = "sum",
             "form"_a = "offsets", "last_offset"_a = false, "bags"_a = -1,
             "padding_index"_a.none() = nb::none(), "empty_value"_a.none() = 0,
             "accumulate"_a = "f32", "dtype"_a.none() = nb::none(), "out_of_range"_a = "fail",
             "negative"_a = "from_end", "fill_value"_a.none() = 0, "threads"_a = 0,
             "inside_operator"_a = false);
}

}  // namespace sheaf::python
