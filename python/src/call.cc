// SPDX-License-Identifier: MIT
#include "call.h"

#include "errors.h"
#include "plan/memory.h"
#include "results.h"
#include "support/checked.h"

namespace sheaf::python {
namespace {

// Scalars of any type are awkward to compare, so plans that fill are made anew.
bool cacheable(const Request& r) { return r.rule.out_of_range != OutOfRange::kFill; }

bool same(const Request& known, const Request& r, const Tensors& tensors) {
  return known.op == r.op && known.axis == r.axis && known.batch_dims == r.batch_dims &&
         known.broadcast == r.broadcast && known.rule.negative == r.rule.negative &&
         known.rule.out_of_range == r.rule.out_of_range && known.name == r.name &&
         known.data == tensors.data && known.indices == tensors.indices &&
         known.output_given == (tensors.output != nullptr) &&
         (!known.output_given || known.output == *tensors.output);
}

std::shared_ptr<const KnownPlan> new_plan(Request r, const Tensors& tensors) {
  r.data = tensors.data;
  r.indices = tensors.indices;
  r.output_given = tensors.output != nullptr;
  if (r.output_given) {
    r.output = *tensors.output;
  }
  try {
    const Plan plan = make_plan(r);
    return std::make_shared<const KnownPlan>(KnownPlan{r, plan, *byte_range(plan.data()),
                                                       *byte_range(plan.indices()),
                                                       *byte_range(plan.output())});
  } catch (const Error& error) {
    raise_refusal(r, error);
  }
}

void run(const Plan& plan, const Arrays& arrays, void* output, int threads) {
  const nb::gil_scoped_release released;
  plan.run(arrays.data.tensor.data, arrays.indices.tensor.data, output, {.threads = threads});
}

// True for a range that the address space has room for; Plan::run refuses others.
bool addressable(const void* memory, ByteRange range) {
  const auto address = reinterpret_cast<intptr_t>(memory);
  return checked_add(address, range.lo) && checked_add(address, range.hi);
}

bool out_overlaps(const KnownPlan& known, const Arrays& arrays) {
  const Tensor& data = arrays.data.tensor;
  const Tensor& indices = arrays.indices.tensor;
  const Tensor& out = arrays.out.tensor;
  if (!addressable(data.data, known.data) || !addressable(indices.data, known.indices) ||
      !addressable(out.data, known.output)) {
    return false;
  }
  return (ranges_meet(data.data, known.data, out.data, known.output) && may_overlap(data, out)) ||
         (ranges_meet(indices.data, known.indices, out.data, known.output) &&
          may_overlap(indices, out));
}

// By a temporary that is copied to `out` at the end: also right if `out` shares memory with data.
void run_by_detour(const Call& call, const Arrays& arrays) {
  const TensorSpec& out = arrays.out.tensor.spec;
  const TensorSpec contiguous(out.dtype, out.sizes);
  const auto known =
      plan_for(call.request, {arrays.data.tensor.spec, arrays.indices.tensor.spec, &contiguous});
  Array temporary(contiguous);
  run(known->plan, arrays, temporary.tensor().data, call.threads);
  copy_into(arrays.out, temporary);
}

void run_into_out(const Call& call, const Arrays& arrays) {
  if (!arrays.out.whole_strides) {
    run_by_detour(call, arrays);
    return;
  }
  const auto known = plan_for(
      call.request, {arrays.data.tensor.spec, arrays.indices.tensor.spec, &arrays.out.tensor.spec});
  if (call.overlap_allowed && out_overlaps(*known, arrays)) {
    run_by_detour(call, arrays);
    return;
  }
  run(known->plan, arrays, arrays.out.tensor.data, call.threads);
}

}  // namespace

Arrays view_arrays(std::string_view call, nb::handle data, nb::handle indices, nb::handle out) {
  Arrays arrays;
  view_array(arrays.data, data, {call, Role::kData});
  view_array(arrays.indices, indices, {call, Role::kIndices});
  if (!out.is_none()) {
    view_array(arrays.out, out, {call, Role::kOutput});
  }
  arrays.passed_out = nb::borrow(out);
  return arrays;
}

std::shared_ptr<const KnownPlan> plan_for(const Request& request, const Tensors& tensors) {
  constexpr int kKept = 8;
  thread_local std::shared_ptr<const KnownPlan> kept[kKept];
  thread_local int oldest = 0;
  if (!cacheable(request)) {
    return new_plan(request, tensors);
  }
  for (const auto& known : kept) {
    if (known != nullptr && same(known->asked, request, tensors)) {
      return known;
    }
  }
  auto known = new_plan(request, tensors);
  kept[oldest] = known;
  oldest = (oldest + 1) % kKept;
  return known;
}

nb::object execute(const Call& call, const Arrays& arrays) {
  if (!arrays.passed_out.is_none()) {
    run_into_out(call, arrays);
    return arrays.passed_out;
  }
  const auto known = plan_for(call.request, {arrays.data.tensor.spec, arrays.indices.tensor.spec});
  Result result(arrays.data, known->plan.output());
  run(known->plan, arrays, result.memory(), call.threads);
  return result.finish(call.scalar_result);
}

nb::object execute(const Plan& plan, const Arrays& arrays, int threads) {
  const auto run_on = [&](void* memory, const TensorSpec& spec) {
    const nb::gil_scoped_release released;
    plan.run(arrays.data.tensor, arrays.indices.tensor, {memory, spec}, {.threads = threads});
  };
  if (arrays.passed_out.is_none()) {
    Result result(arrays.data, plan.output());
    run_on(result.memory(), TensorSpec(plan.output().dtype, plan.output().sizes));
    return result.finish(false);
  }
  const View& out = arrays.out;
  if (!out.whole_strides) {
    raise_argument(refusal_text("plan: out has strides that are not whole elements",
                                "a plan counts strides in elements",
                                "a contiguous out, then copy it"));
  }
  run_on(out.tensor.data, out.tensor.spec);
  return arrays.passed_out;
}

}  // namespace sheaf::python
