// SPDX-License-Identifier: MIT
//
// The functions of sheaf/c.h: each is a line, and may be, because every exception ends here.
#include <memory>
#include <mutex>
#include <string>

#include "frontends/c/boundary.h"
#include "frontends/c/dlpack.h"
#include "frontends/c/request.h"
#include "plan/refuse.h"
#include "sheaf/c.h"
#include "support/text.h"

namespace {

// Made when first asked for.
struct Texts {
  std::mutex mutex;
  std::string str, json;
};

}  // namespace

struct sheaf_plan {
  sheaf::Plan plan;
  DLDataType dtype;  // of data and output, as the caller spells it
  mutable Texts texts = {};
};

namespace sheaf {
namespace {

[[noreturn]] void refuse_null(std::string_view call, const char* argument, const char* next) {
  throw Error(ErrorCode::kInvalidArgument, cat(call, ": null pointer\n  ", argument,
                                               " is null\n  no tensors were read\n  try: ", next));
}

template <class Options>
const Options& or_defaults(const Options* options) {
  static constexpr Options kDefaults = {};
  return options == nullptr ? kDefaults : *options;
}
// XLA's gather has no shape without its options.
const sheaf_xla_gather_options& or_defaults(const sheaf_xla_gather_options* options) {
  if (options == nullptr) {
    refuse_null(to_string(Op::kXlaGather), "options", "the dimension numbers and slice sizes");
  }
  return *options;
}

template <class Options>
sheaf_status run_once(const CTensors& tensors, const Options* options) {
  return at_c_boundary([&] {
    const CCall call = read_call(tensors, or_defaults(options));
    make_plan(call.request).run(call.data, call.indices, call.output);
  });
}

template <class Options>
sheaf_status make_c_plan(const CTensors& tensors, const Options* options, sheaf_plan** plan) {
  return at_c_boundary([&] {
    if (plan == nullptr) {
      refuse_null("sheaf_plan", "plan", "the address of a sheaf_plan*");
    }
    *plan = nullptr;
    const CCall call = read_call(tensors, or_defaults(options));
    *plan = new sheaf_plan{make_plan(call.request), tensors.data->dtype};
  });
}

const sheaf_plan& required_plan(const sheaf_plan* plan, const char* call) {
  if (plan == nullptr) {
    refuse_null(call, "plan", "a plan that one of the sheaf_plan_* functions made");
  }
  return *plan;
}

void check_planned_type(const sheaf_plan& plan, const char* name, DLDataType type) {
  if (!same_type(type, plan.dtype)) {
    refuse(plan.plan.request(), cat(name, " differs from the plan's"),
           cat("got ", to_string(type), ", planned for ", to_string(plan.dtype)),
           "a plan for these tensors");
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

void run_plan(const sheaf_plan& plan, const CTensors& tensors, const sheaf_run_options& options) {
  const auto read = [&](const DLTensor* tensor, const char* name) {
    const DlpackArgument argument{plan.plan.request().name, name};
    return tensor_from_dlpack(required_tensor(tensor, argument), argument);
  };
  const Tensor data = read(tensors.data, "data");
  const Tensor indices = read(tensors.indices, "indices");
  const Tensor output = read(tensors.output, "output");
  check_planned_type(plan, "data", tensors.data->dtype);
  check_planned_type(plan, "output", tensors.output->dtype);
  plan.plan.run(data, indices, output, run_options(plan.plan, options));
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

const char* text_of(const sheaf_plan* plan, const char* call, std::string Texts::*member,
                    std::string (Plan::*print)() const) {
  const char* text = nullptr;
  at_c_boundary([&] {
    Texts& texts = required_plan(plan, call).texts;
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

sheaf_scalar sheaf_int(int64_t value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_INT, {}};
  scalar.value.as_int = value;
  return scalar;
}

sheaf_scalar sheaf_uint(uint64_t value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_UINT, {}};
  scalar.value.as_uint = value;
  return scalar;
}

sheaf_scalar sheaf_float(double value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_FLOAT, {}};
  scalar.value.as_float = value;
  return scalar;
}

sheaf_scalar sheaf_complex(double real, double imaginary) {
  sheaf_scalar scalar = {SHEAF_SCALAR_COMPLEX, {}};
  scalar.value.as_complex[0] = real;
  scalar.value.as_complex[1] = imaginary;
  return scalar;
}

sheaf_status sheaf_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                          const sheaf_gather_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_gather_elements(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output,
                                   const sheaf_gather_elements_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_gather_nd(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                             const sheaf_gather_nd_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_xla_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                              const sheaf_xla_gather_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_plan_gather(const DLTensor* data, const DLTensor* indices,
                               const DLTensor* output, const sheaf_gather_options* options,
                               sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_gather_elements(const DLTensor* data, const DLTensor* indices,
                                        const DLTensor* output,
                                        const sheaf_gather_elements_options* options,
                                        sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_gather_nd(const DLTensor* data, const DLTensor* indices,
                                  const DLTensor* output, const sheaf_gather_nd_options* options,
                                  sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_xla_gather(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output, const sheaf_xla_gather_options* options,
                                   sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
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
    sheaf::run_plan(sheaf::required_plan(plan, "sheaf_plan_run"), {data, indices, output, true},
                    sheaf::or_defaults(options));
  });
}

const char* sheaf_plan_str(const sheaf_plan* plan) {
  return sheaf::text_of(plan, "sheaf_plan_str", &Texts::str, &sheaf::Plan::str);
}

const char* sheaf_plan_json(const sheaf_plan* plan) {
  return sheaf::text_of(plan, "sheaf_plan_json", &Texts::json, &sheaf::Plan::json);
}

void sheaf_plan_destroy(sheaf_plan* plan) { delete plan; }
