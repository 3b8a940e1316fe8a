// SPDX-License-Identifier: MIT
//
// The functions of sheaf/c.h on plans: each is a line, and may be, because every exception ends
// here.
#include "frontends/c/plan.h"

#include <algorithm>
#include <cstring>

#include "frontends/c/dlpack.h"
#include "frontends/c/queue.h"
#include "plan/refuse.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf {

void refuse_null(std::string_view call, const char* argument, const char* next) {
  throw Error(Refusal{.cause = {Reason::kNull},
                      .who = std::string(call),
                      .what = "null pointer",
                      .detail = cat(argument, " is null"),
                      .given = "no tensors were read",
                      .next = next});
}

void copy_options(void* to, const void* options, size_t first, size_t known) {
  size_t size = 0;
  std::memcpy(&size, options, sizeof size);
  if (size == 0) {
    size = first;
  }
  const auto* bytes = static_cast<const unsigned char*>(options);
  const bool later_fields_are_zero =
      size <= known ||
      std::all_of(bytes + known, bytes + size, [](unsigned char b) { return b == 0; });
  if (size < first || !later_fields_are_zero) {
    throw Error(Refusal{
        .cause = {.reason = Reason::kOption},
        .who = "sheaf",
        .what = "options of another version",
        .detail = cat("struct_size = ", size, ", but this library knows ", known, " bytes of them"),
        .given = "no tensors were read",
        .next = "struct_size = sizeof the struct, and only fields that sheaf_version() has"});
  }
  std::memcpy(to, options, std::min(size, known));
}

sheaf_xla_gather_options or_defaults(const sheaf_xla_gather_options* options) {
  if (options == nullptr) {
    refuse_null(to_string(Op::kXlaGather), "options", "the dimension numbers and slice sizes");
  }
  sheaf_xla_gather_options result = {};
  copy_options(&result, options, first_size<sheaf_xla_gather_options>(), sizeof result);
  return result;
}

sheaf_xla_scatter_options or_defaults(const sheaf_xla_scatter_options* options) {
  if (options == nullptr) {
    refuse_null(to_string(Op::kXlaScatter), "options", "the dimension numbers");
  }
  sheaf_xla_scatter_options result = {};
  copy_options(&result, options, first_size<sheaf_xla_scatter_options>(), sizeof result);
  return result;
}

void run_call(const CCall& call) {
  run_in_place(make_plan(call.request), {call.data, call.indices, call.updates, call.output},
               call.device, nullptr, {});
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
    refuse(plan.request(), {Reason::kPlan}, "plan of another operator",
           cat("this is a ", plan.is_scatter() ? "scatter" : "gather", ", but it was run as a ",
               scatter ? "scatter" : "gather"),
           plan.is_scatter() ? "sheaf_plan_run_scatter" : "sheaf_plan_run");
  }
}

RunOptions run_options(const Plan& plan, const sheaf_run_options& options) {
  if (options.threads < 0) {
    refuse(plan.request(), {Reason::kOption}, "threads out of range",
           cat("threads = ", options.threads, ", but it is a number of threads"),
           "0 for as many as pay");
  }
  return {.threads = options.threads,
          .kernel = options.kernel == nullptr ? "" : options.kernel,
          .output_is_fresh = options.output_is_fresh != 0};
}

// The memory of a tensor, which has to be as planned. `dtype` tells types apart that are all bytes
// to the plan; null for indices.
void* read(const sheaf_plan& plan, const DLTensor* tensor, const char* name,
           const TensorSpec& planned, const DLDataType* dtype, Placement& placement) {
  const DlpackArgument argument{plan.plan.request().name, name};
  const Tensor read = placement.place(required_tensor(tensor, argument), argument);
  if (dtype != nullptr && !same_type(tensor->dtype, *dtype)) {
    refuse(plan.plan.request(), {Reason::kPlan, name}, cat(name, " differs from the plan's"),
           cat("got ", to_string(tensor->dtype), ", planned for ", to_string(*dtype)),
           "a plan for these tensors");
  }
  check_planned(plan.plan, name, read.spec, planned);
  return read.data;
}

void run_gather(const sheaf_plan& plan, const CTensors& tensors, const sheaf_run_options& options) {
  check_kind(plan.plan, false);
  Placement placement;
  const Plan& p = plan.plan;
  void* const data = read(plan, tensors.data, "data", p.data(), &plan.dtype, placement);
  void* const indices = read(plan, tensors.indices, "indices", p.indices(), nullptr, placement);
  void* const output = read(plan, tensors.output, "output", p.output(), &plan.dtype, placement);
  run_in_place(p, {data, indices, nullptr, output}, placement.device(), options.queue,
               run_options(p, options));
}

void run_scatter(const sheaf_plan& plan, const CTensors& tensors,
                 const sheaf_run_options& options) {
  check_kind(plan.plan, true);
  Placement placement;
  const Plan& p = plan.plan;
  const bool no_data = p.request().onto_zeros && tensors.data == nullptr;
  void* const data =
      no_data ? nullptr : read(plan, tensors.data, "data", p.data(), &plan.dtype, placement);
  void* const indices = read(plan, tensors.indices, "indices", p.indices(), nullptr, placement);
  void* const updates = read(plan, tensors.updates, "updates", p.updates(), &plan.dtype, placement);
  void* const output = read(plan, tensors.output, "output", p.output(), &plan.dtype, placement);
  run_in_place(p, {data, indices, updates, output}, placement.device(), options.queue,
               run_options(p, options));
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
int32_t sheaf_version_number(void) { return SHEAF_VERSION_NUMBER; }

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
