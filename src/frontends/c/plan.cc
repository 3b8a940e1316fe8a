// SPDX-License-Identifier: MIT
//
// The functions of sheaf/c.h on plans: each is a line, and may be, because every exception ends
// here.
#include "frontends/c/plan.h"

#include "frontends/c/dlpack.h"
#include "plan/refuse.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf {

void refuse_null(std::string_view call, const char* argument, const char* next) {
  throw Error(ErrorCode::kInvalidArgument, cat(call, ": null pointer\n  ", argument,
                                               " is null\n  no tensors were read\n  try: ", next));
}

const sheaf_xla_gather_options& or_defaults(const sheaf_xla_gather_options* options) {
  if (options == nullptr) {
    refuse_null(to_string(Op::kXlaGather), "options", "the dimension numbers and slice sizes");
  }
  return *options;
}

const sheaf_xla_scatter_options& or_defaults(const sheaf_xla_scatter_options* options) {
  if (options == nullptr) {
    refuse_null(to_string(Op::kXlaScatter), "options", "the dimension numbers");
  }
  return *options;
}

void run_call(const CCall& call) {
  const Plan plan = make_plan(call.request);
  if (plan.is_scatter()) {
    plan.run(call.data, call.indices, call.updates, call.output);
  } else {
    plan.run(call.data, call.indices, call.output);
  }
}

sheaf_plan*& required_place(sheaf_plan** plan) {
  if (plan == nullptr) {
    refuse_null("sheaf_plan", "plan", "the address of a sheaf_plan*");
  }
  *plan = nullptr;
  return *plan;
}

namespace {

const sheaf_plan& required_plan(const sheaf_plan* plan, const char* call) {
  if (plan == nullptr) {
    refuse_null(call, "plan", "a plan that one of the sheaf_plan_* functions made");
  }
  return *plan;
}

void check_kind(const Plan& plan, bool scatter) {
  if (plan.is_scatter() != scatter) {
    refuse(plan.request(), "plan of another operator",
           cat("this is a ", plan.is_scatter() ? "scatter" : "gather", ", but it was run as a ",
               scatter ? "scatter" : "gather"),
           plan.is_scatter() ? "sheaf_plan_run_scatter" : "sheaf_plan_run");
  }
}

RunOptions run_options(const Plan& plan, const sheaf_run_options& options) {
  if (options.threads < 0) {
    refuse(plan.request(), "threads out of range",
           cat("threads = ", options.threads, ", but it is a number of threads"),
           "0 for as many as pay");
  }
  return {.threads = options.threads, .kernel = options.kernel == nullptr ? "" : options.kernel};
}

Tensor read(const sheaf_plan& plan, const DLTensor* tensor, const char* name) {
  const DlpackArgument argument{plan.plan.request().name, name};
  return tensor_from_dlpack(required_tensor(tensor, argument), argument);
}

void check_planned_type(const sheaf_plan& plan, const char* name, DLDataType type) {
  if (!same_type(type, plan.dtype)) {
    refuse(plan.plan.request(), cat(name, " differs from the plan's"),
           cat("got ", to_string(type), ", planned for ", to_string(plan.dtype)),
           "a plan for these tensors");
  }
}

void run_gather(const sheaf_plan& plan, const CTensors& tensors, const sheaf_run_options& options) {
  check_kind(plan.plan, false);
  const Tensor data = read(plan, tensors.data, "data");
  const Tensor indices = read(plan, tensors.indices, "indices");
  const Tensor output = read(plan, tensors.output, "output");
  check_planned_type(plan, "data", tensors.data->dtype);
  check_planned_type(plan, "output", tensors.output->dtype);
  plan.plan.run(data, indices, output, run_options(plan.plan, options));
}

void run_scatter(const sheaf_plan& plan, const CTensors& tensors,
                 const sheaf_run_options& options) {
  check_kind(plan.plan, true);
  const bool no_data = plan.plan.request().onto_zeros && tensors.data == nullptr;
  const Tensor data =
      no_data ? Tensor{nullptr, plan.plan.data()} : read(plan, tensors.data, "data");
  const Tensor indices = read(plan, tensors.indices, "indices");
  const Tensor updates = read(plan, tensors.updates, "updates");
  const Tensor output = read(plan, tensors.output, "output");
  if (!no_data) {
    check_planned_type(plan, "data", tensors.data->dtype);
  }
  check_planned_type(plan, "updates", tensors.updates->dtype);
  check_planned_type(plan, "output", tensors.output->dtype);
  plan.plan.run(data, indices, updates, output, run_options(plan.plan, options));
}

// The plan's contents, which the caller may only read, though DLPack has no way to say so.
void describe_output(const sheaf_plan& plan, DLTensor& output) {
  const TensorSpec& spec = plan.plan.output();
  output = {};
  output.device = {kDLCPU, 0};
  output.ndim = spec.rank();
  output.dtype = plan.dtype;
  output.shape = const_cast<int64_t*>(spec.sizes.begin());
  output.strides = const_cast<int64_t*>(spec.strides.begin());
}

const char* text_of(const sheaf_plan* plan, const char* call, std::string PlanTexts::*member,
                    std::string (Plan::*print)() const) {
  const char* text = nullptr;
  at_c_boundary([&] {
    PlanTexts& texts = required_plan(plan, call).texts;
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

const char* sheaf_version(void) { return SHEAF_VERSION; }

sheaf_status sheaf_plan_vjp(const sheaf_plan* plan, sheaf_plan** gradient) {
  return sheaf::at_c_boundary([&] {
    sheaf_plan*& place = sheaf::required_place(gradient);
    const sheaf_plan& p = sheaf::required_plan(plan, "sheaf_plan_vjp");
    place = new sheaf_plan{sheaf::vjp(p.plan), p.dtype};
  });
}

sheaf_status sheaf_plan_output(const sheaf_plan* plan, DLTensor* output) {
  return sheaf::at_c_boundary([&] {
    const sheaf_plan& p = sheaf::required_plan(plan, "sheaf_plan_output");
    if (output == nullptr) {
      sheaf::refuse_null("sheaf_plan_output", "output", "the address of a DLTensor");
    }
    sheaf::describe_output(p, *output);
  });
}

sheaf_status sheaf_plan_run(const sheaf_plan* plan, const DLTensor* data, const DLTensor* indices,
                            const DLTensor* output, const sheaf_run_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::run_gather(sheaf::required_plan(plan, "sheaf_plan_run"), {data, indices, output, true},
                      sheaf::or_defaults(options));
  });
}

sheaf_status sheaf_plan_run_scatter(const sheaf_plan* plan, const DLTensor* data,
                                    const DLTensor* indices, const DLTensor* updates,
                                    const DLTensor* output, const sheaf_run_options* options) {
  return sheaf::at_c_boundary([&] {
    sheaf::run_scatter(sheaf::required_plan(plan, "sheaf_plan_run_scatter"),
                       {data, indices, output, true, updates}, sheaf::or_defaults(options));
  });
}

const char* sheaf_plan_str(const sheaf_plan* plan) {
  return sheaf::text_of(plan, "sheaf_plan_str", &sheaf::PlanTexts::str, &sheaf::Plan::str);
}

const char* sheaf_plan_json(const sheaf_plan* plan) {
  return sheaf::text_of(plan, "sheaf_plan_json", &sheaf::PlanTexts::json, &sheaf::Plan::json);
}

void sheaf_plan_destroy(sheaf_plan* plan) { delete plan; }
