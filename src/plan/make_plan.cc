// SPDX-License-Identifier: MIT
#include "plan/index_error.h"
#include "plan/infer.h"
#include "plan/lower.h"
#include "plan/memory.h"
#include "plan/request.h"

namespace sheaf {

Plan make_plan(const Request& request) {
  auto inferred = std::make_shared<Request>(request);
  infer(*inferred);
  Plan plan;
  plan.nest_ = lower(*inferred);
  refuse_empty_axis(*inferred, plan.nest_);
  normalize(plan.nest_);
  plan.data_range_ = *byte_range(inferred->data);
  plan.indices_range_ = *byte_range(inferred->indices);
  plan.output_range_ = *byte_range(inferred->output);
  plan.request_ = std::move(inferred);
  return plan;
}

const TensorSpec& Plan::data() const { return request_->data; }
const TensorSpec& Plan::indices() const { return request_->indices; }
const TensorSpec& Plan::output() const { return request_->output; }

}  // namespace sheaf
