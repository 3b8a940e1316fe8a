// SPDX-License-Identifier: MIT
#include "plan/encoded_gather.h"

#include <algorithm>

#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

// The decoded tensor as one of bytes, so that its offsets are element numbers.
TensorSpec counted_spec(const TensorSpec& spec) { return {u8, spec.sizes, spec.strides}; }

Plan plan_of_numbers(const Plan& named) {
  Request r = named.request();
  r.data = counted_spec(r.data);
  r.output = counted_spec(r.output);
  r.output_given = true;
  r.rule.fill_value = {};
  return make_plan(r);
}

}  // namespace

EncodedGatherPlan make_encoded_gather(const EncodedSpec& data, const Request& request, DType type) {
  Request r = request;
  r.encoded = std::make_shared<const EncodedSpec>(data);
  if (data.encoding == Encoding::kPlain) {
    refuse(r, {Reason::kType, "data"}, "plain elements", "data is not encoded",
           "the gather of the same name for plain tensors");
  }
  if (const auto problem = problem_of(data)) {
    refuse(r, {Reason::kShape, problem->tensor}, problem->what,
           cat(problem->detail, " (", to_string(data.encoding), ")"), problem->next);
  }
  if (type != f32 && type != f16 && type != bf16) {
    refuse(r, {Reason::kType, "output"}, "types differ",
           cat("output is ", type.name(), ", but encoded elements become f32, f16 or bf16"),
           "an output of f32, f16 or bf16");
  }
  r.data = TensorSpec(type, data.sizes);
  EncodedGatherPlan plan;
  plan.named_ = std::make_shared<const Plan>(make_plan(r));
  plan.data_ = r.encoded;
  auto nest = std::make_shared<EncodedNest>();
  nest->nest = plan_of_numbers(*plan.named_).nest();
  nest->rows = rows_of(data);
  nest->type = type;
  std::copy_n(plan.named_->nest().fill_value, type.bytes(), nest->fill_value);
  plan.nest_ = std::move(nest);
  return plan;
}

std::string EncodedGatherPlan::str() const {
  return cat("from ", data_->str(), " in ", nest_->type.name(), ": ", named_->str());
}

}  // namespace sheaf
