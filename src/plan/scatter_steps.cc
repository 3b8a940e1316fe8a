// SPDX-License-Identifier: MIT
#include "plan/scatter_steps.h"

#include "plan/lower.h"
#include "plan/reduce.h"

namespace sheaf {
namespace {

// The same places, each from the same row.
Nest from_one_row(Nest nest) {
  for (Loop& loop : nest.loops) {
    loop.output = 0;
  }
  return nest;
}

Nest count_nest(const Request& request) {
  Request counted = request;
  counted.data = TensorSpec(i64, request.data.sizes);
  counted.output = counted.data;
  counted.updates = TensorSpec(i64, request.updates.sizes);
  counted.reduction = Reduction::kAdd;
  Nest nest = lower(counted);
  normalize(nest);
  return from_one_row(nest);
}

}  // namespace

ScatterSteps scatter_steps(const Request& r, const Nest& nest) {
  ScatterSteps steps;
  steps.base = lower_copy(r.onto_zeros ? r.output : r.data, r.output);
  normalize(steps.base);
  if (!r.include_self && r.reduction != Reduction::kNone) {
    steps.start = from_one_row(nest);
    steps.start->reduction = Reduction::kNone;
    neutral_element(r.data.dtype, r.reduction, steps.neutral);
  }
  if (r.reduction == Reduction::kMean) {
    steps.counts = count_nest(r);
  }
  return steps;
}

}  // namespace sheaf
