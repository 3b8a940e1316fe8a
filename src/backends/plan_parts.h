// SPDX-License-Identifier: MIT
//
// The inside of a plan, for backends on memory that Plan::run cannot reach.
#pragma once

#include "plan/scatter_steps.h"

namespace sheaf {

struct PlanParts {
  // Throw as Plan::run would: null pointers, overlaps, a gather run as a scatter.
  static void check_memory(const Plan& plan, const void* data, const void* indices,
                           const void* output) {
    plan.check_memory(data, indices, output);
  }
  static void check_scatter_memory(const Plan& plan, const void* data, const void* indices,
                                   const void* updates, const void* output) {
    plan.check_scatter_memory(data, indices, updates, output);
  }
  static const ScatterSteps& scatter_steps(const Plan& plan) { return *plan.scatter_; }
};

}  // namespace sheaf
