// SPDX-License-Identifier: MIT
//
// The gradients of sheaf/c_bags.h.
#include "sheaf/bag_gradient.h"

#include "frontends/c/bag_call.h"
#include "frontends/c/plan.h"
#include "plan/bag_gradient.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A bag and the gradient of its output.
struct CGradient {
  CBag bag;
  Tensor gradient;
  BagPlan plan;

  BagGradientMemory memory() const { return {.bag = bag.memory, .gradient = gradient.data}; }
};

CGradient read_gradient(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                        const sheaf_bag_options* options) {
  CBag bag = read_bag(tensors, options);
  const Tensor read = read_required(gradient, "gradient", bag);
  BagOptions& o = bag.request.options;
  o.output_type = o.output_type.value_or(read.spec.dtype);
  const BagPlan plan = make_bag_plan(bag.request);
  return {std::move(bag), read, plan};
}

void check_on_host(const CGradient& call) {
  if (!call.bag.placement.device().empty()) {
    refuse_as(ErrorCode::kUnsupported, call.bag.request, {Reason::kKernel},
              "no gradients of bags on this device",
              cat("the tensors are in memory of ", call.bag.placement.device()),
              "memory of the host");
  }
}

// `room` is that of a tensor of which the first `count` rows are written.
TensorSpec first_rows(TensorSpec spec, int64_t count) {
  spec.sizes[0] = count;
  return spec;
}

void check_room(const CGradient& call, const char* name, const TensorSpec& got,
                const TensorSpec& wanted) {
  const bool fits = got.dtype == wanted.dtype && got.rank() == wanted.rank() &&
                    got.sizes[0] >= wanted.sizes[0] &&
                    TensorSpec(wanted.dtype, wanted.sizes) ==
                        TensorSpec(wanted.dtype, first_rows(got, wanted.sizes[0]).sizes) &&
                    got == TensorSpec(got.dtype, got.sizes);
  if (!fits) {
    refuse(call.bag.request, {Reason::kShape, name, -1, got.sizes, wanted.sizes},
           cat("no room for the rows in ", name),
           cat(name, " is ", got.str(), ", but the gradient has ", wanted.str()),
           cat("a contiguous ", wanted.dtype.name(), bracketed(wanted.sizes), ", or more rows"));
  }
}

void run_row_gradient(CGradient& call, const DLTensor* rows, const DLTensor* values,
                      int64_t& count) {
  const BagGradientPlan plan =
      plan_bag_gradient(call.plan, BagGradientOf::kRows, {.gradient = call.gradient.spec});
  const bool only_counts = rows == nullptr && values == nullptr;
  Tensor rows_read, values_read;
  if (!only_counts) {
    rows_read = read_required(rows, "rows", call.bag);
    values_read = read_required(values, "values", call.bag);
  }
  check_on_host(call);
  BagGradientMemory memory = call.memory();
  const BagEntries entries = plan.entries(memory.bag);
  count = entries.rows();
  if (only_counts) {
    return;
  }
  check_room(call, "rows", rows_read.spec, TensorSpec(i64, {count}));
  check_room(call, "values", values_read.spec,
             TensorSpec(plan.output().dtype, first_rows(plan.output(), count).sizes));
  memory.rows = rows_read.data;
  memory.output = values_read.data;
  plan.run(entries, memory);
}

void run_gradient_into(CGradient& call, BagGradientOf of, const DLTensor* output, bool add) {
  const Tensor to = read_required(output, "output", call.bag);
  check_on_host(call);
  const BagGradientPlan plan = plan_bag_gradient(
      call.plan, of, {.gradient = call.gradient.spec, .output = to.spec, .add = add});
  BagGradientMemory memory = call.memory();
  memory.output = to.data;
  plan.run(plan.entries(memory.bag), memory);
}

}  // namespace
}  // namespace sheaf

sheaf_status sheaf_bag_gradient_rows(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                     const DLTensor* rows, const DLTensor* values, int64_t* count,
                                     const sheaf_bag_options* options) {
  return sheaf::at_c_boundary([&] {
    if (count == nullptr) {
      sheaf::refuse_null("sheaf_bag_gradient_rows", "count", "the address of an int64_t");
    }
    sheaf::CGradient call = sheaf::read_gradient(tensors, gradient, options);
    sheaf::run_row_gradient(call, rows, values, *count);
  });
}

sheaf_status sheaf_bag_gradient_data(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                     const DLTensor* output, int32_t add,
                                     const sheaf_bag_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::CGradient call = sheaf::read_gradient(tensors, gradient, options);
    sheaf::run_gradient_into(call, sheaf::BagGradientOf::kData, output, add != 0);
  });
}

sheaf_status sheaf_bag_gradient_weights(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                        const DLTensor* output, const sheaf_bag_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::CGradient call = sheaf::read_gradient(tensors, gradient, options);
    sheaf::run_gradient_into(call, sheaf::BagGradientOf::kWeights, output, false);
  });
}
