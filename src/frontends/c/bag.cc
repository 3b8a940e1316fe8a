// SPDX-License-Identifier: MIT
//
// The bags of sheaf/c_bags.h: one call, or a plan.
#include <memory>
#include <mutex>

#include "frontends/c/bag_call.h"
#include "frontends/c/plan.h"
#include "frontends/c/queue.h"
#include "support/text.h"

struct sheaf_bag_plan {
  sheaf::BagPlan plan;
  mutable sheaf::PlanTexts texts = {};
};

namespace sheaf {
namespace {

struct BagRun {
  BagPlan plan;
  BagMemory memory;
  RunOptions options;

  void start(const Queue& queue) const { run(plan, memory, queue, options); }
  void finish(const Queue& queue) const { sheaf::finish(plan, queue); }
  size_t workspace_bytes(const Queue& queue) const {
    return sheaf::workspace_bytes(plan, queue, options);
  }
  bool reports() const { return plan.checked_gather() != nullptr || plan.nest().per_bag < 0; }
};

const sheaf_bag_plan& required_bag_plan(const sheaf_bag_plan* plan, const char* call) {
  if (plan == nullptr) {
    refuse_null(call, "plan", "a plan that sheaf_plan_bag made");
  }
  return *plan;
}

void check_same(const BagPlan& plan, const char* name, const std::optional<TensorSpec>& got,
                const std::optional<TensorSpec>& planned) {
  if (got != planned) {
    const auto text = [](const std::optional<TensorSpec>& spec) {
      return spec ? spec->str() : std::string("none");
    };
    refuse(plan.request(), {Reason::kPlan, name}, cat(name, " differs from the plan's"),
           cat("got ", text(got), ", planned for ", text(planned)), "a plan for these tensors");
  }
}

void check_same_tensors(const BagPlan& plan, const BagSpecs& got, const TensorSpec& output) {
  const BagSpecs& planned = plan.request().specs;
  const EncodedSpec& data = planned.data;
  check_same(plan, "data", got.data.stored, data.stored);
  check_same(plan, "scales", got.data.scales, data.scales);
  check_same(plan, "zeros", got.data.zeros, data.zeros);
  check_same(plan, "indices", got.indices, planned.indices);
  check_same(plan, "segments", got.segments, planned.segments);
  check_same(plan, "weights", got.weights, planned.weights);
  check_same(plan, "output", output, plan.output());
  if (got.data.encoding != data.encoding || got.data.sizes != data.sizes ||
      got.data.block != data.block || got.data.axis != data.axis ||
      got.data.usual_zero != data.usual_zero) {
    refuse(plan.request(), {Reason::kPlan, "data"}, "data differs from the plan's",
           cat("got ", got.data.str(), ", planned for ", data.str()), "a plan for these tensors");
  }
}

void run_bag_in_place(const BagPlan& plan, CBag& bag, void* output, sheaf_queue* queue,
                      const RunOptions& options) {
  const std::string_view device = bag.placement.device();
  if (std::string other = other_device(device, queue); !other.empty()) {
    refuse(plan.request(), {Reason::kMemory}, "queue of another device", std::move(other),
           "a queue of the tensors' device, or none");
  }
  bag.memory.output = output;
  run_in_place(BagRun{plan, bag.memory, options}, device, queue, options.threads);
}

void run_bag_plan(const BagPlan& plan, const sheaf_bag_tensors* tensors, const DLTensor* output,
                  const sheaf_run_options& given) {
  CBag bag;
  read_bag_tensors(tensors, bag);
  const Tensor to = read_required(output, "output", bag);
  check_same_tensors(plan, bag.request.specs, to.spec);
  if (given.threads < 0) {
    refuse(plan.request(), {Reason::kOption}, "threads out of range",
           cat("threads = ", given.threads, ", but it is a number of threads"),
           "0 for as many as pay");
  }
  run_bag_in_place(plan, bag, to.data, given.queue,
                   {.threads = given.threads,
                    .kernel = given.kernel == nullptr ? "" : given.kernel,
                    .output_is_fresh = given.output_is_fresh != 0});
}

// The plan's contents, which the caller may only read, though DLPack has no way to say so.
void describe_bag_output(const BagPlan& plan, DLTensor& output) {
  const TensorSpec& spec = plan.output();
  output = {};
  output.device = {kDLCPU, 0};
  output.ndim = spec.rank();
  output.dtype = dtype_to_dlpack(spec.dtype);
  output.shape = const_cast<int64_t*>(spec.sizes.begin());
  output.strides = const_cast<int64_t*>(spec.strides.begin());
}

const char* bag_text(const sheaf_bag_plan* plan, const char* call, std::string PlanTexts::*member,
                     std::string (BagPlan::*print)() const) {
  const char* text = nullptr;
  at_c_boundary([&] {
    PlanTexts& texts = required_bag_plan(plan, call).texts;
    const std::lock_guard lock(texts.mutex);
    if ((texts.*member).empty()) {
      texts.*member = (plan->plan.*print)();
    }
    text = (texts.*member).c_str();
  });
  return text;
}

}  // namespace
}  // namespace sheaf

sheaf_status sheaf_bag(const sheaf_bag_tensors* tensors, const DLTensor* output,
                       const sheaf_bag_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::CBag bag = sheaf::read_bag(tensors, options);
    const sheaf::Tensor to = sheaf::read_required(output, "output", bag);
    sheaf::run_bag_in_place(sheaf::plan_of_bag(bag, &to.spec), bag, to.data, nullptr, {});
  });
}

sheaf_status sheaf_plan_bag(const sheaf_bag_tensors* tensors, const DLTensor* output,
                            const sheaf_bag_options* options, sheaf_bag_plan** plan) {
  return sheaf::at_c_boundary([&] {
    if (plan == nullptr) {
      sheaf::refuse_null("sheaf_plan_bag", "plan", "the address of a sheaf_bag_plan*");
    }
    *plan = nullptr;
    sheaf::CBag bag = sheaf::read_bag(tensors, options);
    std::optional<sheaf::TensorSpec> spec;
    if (output != nullptr) {
      spec = sheaf::read_required(output, "output", bag).spec;
    }
    *plan = new sheaf_bag_plan{sheaf::plan_of_bag(bag, spec ? &*spec : nullptr)};
  });
}

sheaf_status sheaf_bag_plan_output(const sheaf_bag_plan* plan, DLTensor* output) {
  return sheaf::at_c_boundary([&] {
    const sheaf_bag_plan& p = sheaf::required_bag_plan(plan, "sheaf_bag_plan_output");
    if (output == nullptr) {
      sheaf::refuse_null("sheaf_bag_plan_output", "output", "the address of a DLTensor");
    }
    sheaf::describe_bag_output(p.plan, *output);
  });
}

sheaf_status sheaf_bag_plan_run(const sheaf_bag_plan* plan, const sheaf_bag_tensors* tensors,
                                const DLTensor* output, const sheaf_run_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::run_bag_plan(sheaf::required_bag_plan(plan, "sheaf_bag_plan_run").plan, tensors, output,
                        sheaf::or_defaults(options));
  });
}

const char* sheaf_bag_plan_str(const sheaf_bag_plan* plan) {
  return sheaf::bag_text(plan, "sheaf_bag_plan_str", &sheaf::PlanTexts::str, &sheaf::BagPlan::str);
}

const char* sheaf_bag_plan_json(const sheaf_bag_plan* plan) {
  return sheaf::bag_text(plan, "sheaf_bag_plan_json", &sheaf::PlanTexts::json,
                         &sheaf::BagPlan::json);
}

void sheaf_bag_plan_destroy(sheaf_bag_plan* plan) { delete plan; }
