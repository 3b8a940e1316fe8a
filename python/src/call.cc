// SPDX-License-Identifier: MIT
#include "call.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "gpu_run.h"
#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "plan/scalar.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

bool elsewhere(const Placement& placement, const DLDevice& device) {
  return !same_device(device, placement.device);
}

std::shared_ptr<const KnownPlan> new_plan(const Request& r) {
  try {
    const Plan plan = make_plan(r);
    return std::make_shared<const KnownPlan>(
        KnownPlan{r, plan, *byte_range(plan.data()), *byte_range(plan.indices()),
                  *byte_range(plan.updates()), *byte_range(plan.output())});
  } catch (const Error& error) {
    raise_refusal(r, error);
  }
}

// Code of the caller may have run since the arrays were read: their own methods, a finaliser that
// the garbage collector called. Nothing runs between this and the work.
void refuse_changed(std::string_view call, const Arrays& arrays) {
  for (const View* view : {&arrays.data, &arrays.indices, &arrays.updates, &arrays.out}) {
    refuse_if_changed(*view, call);
  }
}

// Where the arrays are. `fresh`: the output was allocated for this call, and is thrown away if the
// call fails.
void run(const Plan& plan, const Arrays& arrays, void* output, int threads, bool fresh) {
  run_at(arrays.placement, plan,
         {arrays.data.tensor.data, arrays.indices.tensor.data, arrays.updates.tensor.data, output},
         threads, fresh, [&] { refuse_changed(plan.request().name, arrays); });
}

// Over before another thread would have got the lock: giving it away takes longer.
bool is_short(const Plan& plan) {
  constexpr int64_t kBytes = 1 << 14;
  const auto bytes = [](const TensorSpec& spec) {
    return element_count(spec.sizes) * spec.dtype.bytes();
  };
  return bytes(plan.output()) <= kBytes && bytes(plan.indices()) <= kBytes &&
         (!plan.is_scatter() || bytes(plan.updates()) <= kBytes);
}

// True for a range that the address space has room for; Plan::run refuses others.
bool addressable(const void* memory, ByteRange range) {
  const auto address = reinterpret_cast<intptr_t>(memory);
  return checked_add(address, range.lo) && checked_add(address, range.hi);
}

bool out_overlaps(const KnownPlan& known, const Arrays& arrays) {
  const Tensor& out = arrays.out.tensor;
  const auto shared_with = [&](const Tensor& input, ByteRange range) {
    return addressable(input.data, range) && addressable(out.data, known.output) &&
           ranges_meet(input.data, range, out.data, known.output) && may_overlap(input, out);
  };
  if (shared_with(arrays.indices.tensor, known.indices)) {
    return true;
  }
  return known.plan.is_scatter()  // which has its data and its output in one place
             ? shared_with(arrays.updates.tensor, known.updates)
             : shared_with(arrays.data.tensor, known.data);
}

// The library sees an integer in every date and bytes in every record: whether two of them mean the
// same, only NumPy knows. Dtypes of different size it refuses itself.
void refuse_other_meaning(std::string_view call, const Arrays& arrays) {
  const auto text = [](const View& of) {
    return nb::str(nb::handle(reinterpret_cast<PyObject*>(of.descr())));
  };
  const auto check = [&](const char* name, const View& view) {
    if (view.tensor.spec.dtype == arrays.data.tensor.spec.dtype &&
        !same_meaning(view, arrays.data)) {
      raise_dtype(refusal_text(
          cat(call, ": types differ"),
          cat(name, " is ", text(view).c_str(), ", but data is ", text(arrays.data).c_str()),
          cat(name, " of that type; nothing is converted")));
    }
  };
  check("updates", arrays.updates);
  if (!arrays.passed_out.is_none()) {
    check("out", arrays.out);
  }
}

// By a temporary that is copied to `out` at the end: also right if `out` shares memory with data.
void run_by_detour(Call& call, const Arrays& arrays) {
  const TensorSpec& out = arrays.out.tensor.spec;
  const TensorSpec contiguous(out.dtype, out.sizes);
  call.request.set_output(contiguous);
  const auto known = plan_for(call.request);
  if (arrays.placement.on_gpu) {
    Result temporary(arrays.out, contiguous);
    run(known->plan, arrays, temporary.memory(), call.threads, true);
    assign(arrays.out, temporary.finish(false));
    return;
  }
  Array temporary(contiguous);
  run(known->plan, arrays, temporary.tensor().data, call.threads, true);
  copy_into(arrays.out, temporary.tensor(), call.request.name);
}

void run_into_out(Call& call, const Arrays& arrays) {
  if (!arrays.out.whole_strides) {
    run_by_detour(call, arrays);
    return;
  }
  call.request.set_output(arrays.out.tensor.spec);
  const auto known = plan_for(call.request);
  if (call.overlap_allowed && out_overlaps(*known, arrays)) {
    run_by_detour(call, arrays);
    return;
  }
  run(known->plan, arrays, arrays.out.tensor.data, call.threads, false);
}

// A stride says nothing about a dimension of at most one entry: there the plan's is taken.
void take_unused_strides(TensorSpec& spec, const TensorSpec& planned) {
  if (spec.dtype != planned.dtype || spec.sizes != planned.sizes) {
    return;
  }
  for (int d = 0; d < spec.rank(); ++d) {
    if (used_stride(spec, d) != used_stride(planned, d)) {
      return;
    }
  }
  spec.strides = planned.strides;
}

Arrays arrays_for(const Plan& plan, const Passed& passed) {
  Passed present = passed;
  if (plan.is_scatter() && passed.data.is_none()) {
    present.data = {};
  }
  Arrays arrays = view_arrays(plan.request().name, present);
  for (const View* view : {&arrays.data, &arrays.indices, &arrays.updates, &arrays.out}) {
    refuse_large_elements(*view);  // a plan of bytes would take them for rows
  }
  if (!present.data.is_valid()) {
    arrays.data.tensor = {nullptr, plan.data()};
  }
  take_unused_strides(arrays.data.tensor.spec, plan.data());
  take_unused_strides(arrays.indices.tensor.spec, plan.indices());
  take_unused_strides(arrays.updates.tensor.spec, plan.updates());
  take_unused_strides(arrays.out.tensor.spec, plan.output());
  return arrays;
}

void run_planned(const Plan& plan, const Arrays& arrays, const Tensor& output, int threads,
                 bool fresh) {
  check_planned(plan, "data", arrays.data.tensor.spec, plan.data());
  check_planned(plan, "indices", arrays.indices.tensor.spec, plan.indices());
  if (plan.is_scatter()) {
    check_planned(plan, "updates", arrays.updates.tensor.spec, plan.updates());
  }
  check_planned(plan, "output", output.spec, plan.output());
  run(plan, arrays, output.data, threads, fresh);
}

// What is not Sheaf's own comes from the library that the result is for: no memory, no such dtype.
[[noreturn]] void refuse_result(nb::python_error& error, std::string_view call) {
  raise_as_refusal(error, cat(call, ": no array for the result"), "out=, an array for the result");
}

void refuse_other_devices(std::string_view call, const Arrays& arrays) {
  if (!arrays.placement.on_gpu) {
    return;
  }
  const std::pair<const char*, const View&> all[] = {{"data", arrays.data},
                                                     {"indices", arrays.indices},
                                                     {"updates", arrays.updates},
                                                     {"out", arrays.out}};
  std::string places;
  const char* other = nullptr;
  for (const auto& [name, view] : all) {
    if (view.object.is_valid()) {  // else it was not passed
      places += cat(places.empty() ? "" : ", ", name, " is on ", text_of(view.device));
      other = other == nullptr && elsewhere(arrays.placement, view.device) ? name : other;
    }
  }
  if (other != nullptr) {
    raise_argument(refusal_text(cat(call, ": arrays on different devices"), places,
                                cat(other, " moved to ", text_of(arrays.placement.device),
                                    "; nothing is copied between devices in silence")));
  }
}

// Updates of another type that converts to that of data, within the same kind or to a wider one.
// Others stay as they are, and are refused by the plan.
void cast_updates(Arrays& arrays, std::string_view call) {
  const nb::object cast = nb::module_::import_("sheaf._interop")
                              .attr("cast_updates")(arrays.updates.object, arrays.data.object);
  if (!cast.is_none()) {
    arrays.updates = View();
    view_array(arrays.updates, cast, {call, Role::kUpdates, nullptr, &arrays.placement});
  }
}

// Large elements are moved byte by byte: nothing computes with them, or knows another than zeros.
void refuse_large_values(const Request& r, int64_t bytes) {
  if (r.reduction != Reduction::kNone) {
    raise_dtype(refusal_text(
        cat(r.name, ": reduction does not fit the type"),
        cat("reduction = ", to_string(r.reduction), " on elements of ", bytes, " bytes"),
        "reduction=\"none\""));
  }
  if (r.rule.out_of_range == OutOfRange::kFill && to_string(r.rule.fill_value) != "0") {
    raise_dtype(refusal_text(cat(r.name, ": fill_value does not fit the type"),
                             cat("elements of ", bytes, " bytes can only be filled with 0, not ",
                                 to_string(r.rule.fill_value)),
                             "fill_value=0"));
  }
}

// The same refusal with advice that the caller of the function can follow.
[[noreturn]] void throw_reworded(const IndexError& error, std::string_view hint) {
  Refusal refusal = error.refusal();
  if (!hint.empty()) {
    refusal.next = hint;
    refusal.picture.clear();
  }
  throw IndexError(std::move(refusal), error.position(), error.bad_count());
}

}  // namespace

Arrays view_arrays(std::string_view call, const Passed& passed) {
  Arrays arrays;
  Placement& placement = arrays.placement;
  placement.inside_operator = passed.inside_operator;
  const auto view_updates = [&](const Elements* like) {
    view_array(arrays.updates, passed.updates, {call, Role::kUpdates, like, &placement});
  };
  if (passed.data.is_valid()) {
    view_array(arrays.data, passed.data, {call, Role::kData, nullptr, &placement});
  } else {
    view_updates(nullptr);  // the result is of their kind: they lead
  }
  view_array(arrays.indices, passed.indices, {call, Role::kIndices, nullptr, &placement});
  if (passed.data.is_valid() && passed.updates.is_valid()) {
    const Elements like{arrays.data.tensor.spec.dtype, arrays.data.descr()};
    view_updates(&like);
    const bool differ = arrays.updates.tensor.spec.dtype != like.dtype ||
                        !same_meaning(arrays.updates, arrays.data);
    if (differ && !passed.inside_operator) {
      cast_updates(arrays, call);
    }
  }
  if (!passed.out.is_none()) {
    view_array(arrays.out, passed.out, {call, Role::kOutput, nullptr, &placement});
  }
  arrays.passed_out = nb::borrow(passed.out);
  refuse_other_devices(call, arrays);
  return arrays;
}

void run_at(const Placement& placement, const Plan& plan, const Memory& memory, int threads,
            bool fresh, const std::function<void()>& last_check) {
  const auto run_on = [&](const Queue& queue, const RunOptions& options) {
    if (plan.is_scatter()) {
      sheaf::run(plan, memory.data, memory.indices, memory.updates, memory.output, queue, options);
    } else {
      sheaf::run(plan, memory.data, memory.indices, memory.output, queue, options);
    }
  };
  if (!placement.on_gpu) {
    const auto work = [&] {
      run_on({.threads = threads}, {.threads = threads, .output_is_fresh = fresh});
    };
    if (last_check) {
      last_check();
    }
    is_short(plan) ? work() : without_gil(work);
    return;
  }
  run_on_gpu(placement, plan, plan.nest().out_of_range == OutOfRange::kFail, fresh, run_on,
             last_check);
}

void spread_large_elements(Request& r, Arrays& arrays) {
  const int64_t bytes = arrays.data.large_bytes;
  if (bytes == 0) {
    return;
  }
  if (!arrays.passed_out.is_none() && arrays.out.large_bytes != bytes) {
    raise_dtype(refusal_text(cat(r.name, ": types differ"),
                             cat("data has elements of ", bytes, " bytes, but out has others"),
                             "an out of the dtype of data"));
  }
  refuse_large_values(r, bytes);
  const int64_t rank = arrays.data.rank();
  const bool has_axis = r.op != Op::kGatherNd && r.op != Op::kScatterNd;
  if (has_axis && (r.axis < -rank || r.axis >= rank)) {
    raise_axis(refusal_text(cat(r.name, ": axis out of range"),
                            cat("axis = ", r.axis, ", but data has ", rank, " dimensions"),
                            cat("an axis from ", -rank, " to ", rank - 1)));
  }
  r.axis += has_axis && r.axis < 0 ? rank : 0;
  TensorSpec& indices = arrays.indices.tensor.spec;
  if (!has_axis && indices.rank() > 0) {
    const int64_t batch = r.batch_dims < 0 ? r.batch_dims + indices.rank() : r.batch_dims;
    if (batch + indices.sizes.back() > rank) {
      raise_argument(refusal_text(
          cat(r.name, ": tuples are too long"),
          cat("each has ", indices.sizes.back(), " indices, but data has ", rank, " dimensions"),
          "a shorter last dimension of indices"));
    }
  }
  if (r.op == Op::kGatherElements || r.op == Op::kScatterElements) {
    indices.sizes.push_back(bytes);  // all bytes of an element have its index
    indices.strides.push_back(0);
  }
}

std::shared_ptr<const KnownPlan> plan_for(const Request& request) {
  thread_local std::array<std::shared_ptr<const KnownPlan>, 8> kept;  // the last used one first
  auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& known) {
    return known != nullptr && known->asked == request;
  });
  if (found == kept.end()) {
    kept.back() = new_plan(request);
    found = kept.end() - 1;
  }
  std::rotate(kept.begin(), found, found + 1);
  return kept.front();
}

void set_inputs(Request& request, const Arrays& arrays) {
  request.data = arrays.data.tensor.spec;
  request.indices = arrays.indices.tensor.spec;
  if (is_scatter(request.op)) {
    request.updates = arrays.updates.tensor.spec;
  }
}

nb::object execute(Call& call, const Arrays& arrays) try {
  set_inputs(call.request, arrays);
  if (is_scatter(call.request.op)) {
    refuse_other_meaning(call.request.name, arrays);
  }
  if (!arrays.passed_out.is_none()) {
    run_into_out(call, arrays);
    return arrays.passed_out;
  }
  const auto known = plan_for(call.request);
  Result result(arrays.kind(), known->plan.output());
  run(known->plan, arrays, result.memory(), call.threads, true);
  return result.finish(call.scalar_result);
} catch (const IndexError& error) {
  throw_reworded(error, call.index_hint);
} catch (nb::python_error& error) {
  refuse_result(error, call.request.name);
}

nb::object execute(const Plan& plan, const Passed& passed, int threads) try {
  const Arrays arrays = arrays_for(plan, passed);
  if (plan.is_scatter() && !passed.data.is_none()) {
    refuse_other_meaning(plan.request().name, arrays);
  }
  if (passed.out.is_none()) {
    const TensorSpec contiguous(plan.output().dtype, plan.output().sizes);
    Result result(arrays.kind(), contiguous);
    run_planned(plan, arrays, {result.memory(), contiguous}, threads, true);
    return result.finish(false);
  }
  if (!arrays.out.whole_strides) {
    raise_argument(refusal_text("plan: out has strides that are not whole elements",
                                "a plan counts strides in elements",
                                "a contiguous out, then copy it"));
  }
  run_planned(plan, arrays, arrays.out.tensor, threads, false);
  return arrays.passed_out;
} catch (nb::python_error& error) {
  refuse_result(error, plan.request().name);
}

}  // namespace sheaf::python
