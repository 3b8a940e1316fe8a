// SPDX-License-Identifier: MIT
#include "plan/byte_ranges.h"
#include "plan/index_error.h"
#include "plan/infer.h"
#include "plan/lower.h"
#include "plan/request.h"
#include "plan/scatter_steps.h"

namespace sheaf {

Plan make_plan(const Request& request) {
  auto inferred = std::make_shared<Request>(request);
  infer(*inferred);
  Plan plan;
  plan.nest_ = lower(*inferred);
  refuse_empty_axis(*inferred, plan.nest_);
  normalize(plan.nest_);
  plan.ranges_.data = *byte_range(inferred->data);
  plan.ranges_.indices = *byte_range(inferred->indices);
  plan.ranges_.output = *byte_range(inferred->output);
  if (is_scatter(inferred->op)) {
    plan.ranges_.updates = *byte_range(inferred->updates);
    plan.scatter_ = std::make_shared<const ScatterSteps>(scatter_steps(*inferred, plan.nest_));
  }
  plan.request_ = std::move(inferred);
  return plan;
}

const TensorSpec& Plan::data() const { return request_->data; }
const TensorSpec& Plan::indices() const { return request_->indices; }
const TensorSpec& Plan::updates() const { return request_->updates; }
const TensorSpec& Plan::output() const { return request_->output; }

bool operator==(const Plan& a, const Plan& b) {
  if (!(a.nest_ == b.nest_)) {
    return false;
  }
  const Request& of_a = *a.request_;
  const Request& of_b = *b.request_;
  const bool same_reduction = a.nest_.reduction == Reduction::kNone ||
                              (of_a.include_self == of_b.include_self &&
                               a.scatter_->wide.has_value() == b.scatter_->wide.has_value());
  return !a.is_scatter() || (same_reduction && of_a.onto_zeros == of_b.onto_zeros &&
                             a.scatter_->base == b.scatter_->base);
}

}  // namespace sheaf
