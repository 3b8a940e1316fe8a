// SPDX-License-Identifier: MIT
#include "call.h"

#include "errors.h"
#include "plan/memory.h"
#include "results.h"

namespace sheaf::python {
namespace {

struct CachedPlan {
  Request request;
  std::shared_ptr<const Plan> plan;
};

// Scalars of any type are awkward to compare, so plans that fill are made anew.
bool cacheable(const Request& r) {
  return r.rule.out_of_range != OutOfRange::kFill && r.xla == nullptr;
}

bool same(const Request& a, const Request& b) {
  return a.op == b.op && a.name == b.name && a.axis == b.axis && a.batch_dims == b.batch_dims &&
         a.broadcast == b.broadcast && a.rule.negative == b.rule.negative &&
         a.rule.out_of_range == b.rule.out_of_range && a.output_given == b.output_given &&
         a.data == b.data && a.indices == b.indices && (!a.output_given || a.output == b.output);
}

std::shared_ptr<const Plan> new_plan(const Request& request) {
  try {
    return std::make_shared<const Plan>(make_plan(request));
  } catch (const Error& error) {
    raise_refusal(request, error);
  }
}

void run(const Plan& plan, const Arrays& arrays, void* output, int threads) {
  const nb::gil_scoped_release released;
  plan.run(arrays.data.tensor.data, arrays.indices.tensor.data, output, {.threads = threads});
}

bool needs_detour(const Call& call, const Arrays& arrays) {
  const View& out = arrays.out;
  return !out.whole_strides ||
         (call.overlap_allowed && byte_range(out.tensor.spec) &&
          byte_range(arrays.data.tensor.spec) && byte_range(arrays.indices.tensor.spec) &&
          (may_overlap(arrays.data.tensor, out.tensor) ||
           may_overlap(arrays.indices.tensor, out.tensor)));
}

// By a temporary that is copied to `out` at the end: also right if `out` shares memory with data.
void run_by_detour(Call& call, const Arrays& arrays) {
  Request& r = call.request;
  r.output = TensorSpec(arrays.out.tensor.spec.dtype, arrays.out.tensor.spec.sizes);
  r.output_given = true;
  const std::shared_ptr<const Plan> plan = plan_for(r);
  Array temporary(plan->output());
  run(*plan, arrays, temporary.tensor().data, call.threads);
  copy_into(arrays.out, temporary);
}

nb::object run_new(const Plan& plan, const Arrays& arrays, int threads, bool scalar) {
  Result result(arrays.data, plan.output());
  run(plan, arrays, result.memory(), threads);
  return result.finish(scalar);
}

}  // namespace

Arrays view_arrays(std::string_view call, nb::handle data, nb::handle indices, nb::handle out) {
  Arrays arrays{view_of(data, {call, Role::kData}),
                view_of(indices, {call, Role::kIndices}),
                {},
                nb::borrow(out)};
  if (!out.is_none()) {
    arrays.out = view_of(out, {call, Role::kOutput});
  }
  return arrays;
}

std::shared_ptr<const Plan> plan_for(const Request& request) {
  constexpr int kKept = 8;
  thread_local CachedPlan kept[kKept];
  thread_local int oldest = 0;
  if (!cacheable(request)) {
    return new_plan(request);
  }
  for (const CachedPlan& entry : kept) {
    if (entry.plan != nullptr && same(entry.request, request)) {
      return entry.plan;
    }
  }
  std::shared_ptr<const Plan> plan = new_plan(request);
  kept[oldest] = {request, plan};
  oldest = (oldest + 1) % kKept;
  return plan;
}

nb::object execute(Call& call, const Arrays& arrays) {
  Request& r = call.request;
  r.data = arrays.data.tensor.spec;
  r.indices = arrays.indices.tensor.spec;
  if (arrays.passed_out.is_none()) {
    return run_new(*plan_for(r), arrays, call.threads, call.scalar_result);
  }
  if (needs_detour(call, arrays)) {
    run_by_detour(call, arrays);
  } else {
    r.output = arrays.out.tensor.spec;
    r.output_given = true;
    run(*plan_for(r), arrays, arrays.out.tensor.data, call.threads);
  }
  return arrays.passed_out;
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
