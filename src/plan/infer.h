// SPDX-License-Identifier: MIT
//
// The one place that validates. Every shape rule of every operator is here (XLA's in
// infer_xla.cc); what lies behind it may assume them.
#pragma once

#include "plan/request.h"

namespace sheaf {

// Refuses an unsound request. On return axis and batch_dims are non-negative and `output` has its
// sizes, type and strides.
void infer(Request& request);

// The output sizes by each operator's rule; axis and batch_dims are made non-negative.
Dims infer_sizes(Request& request);
Dims infer_xla_sizes(const Request& request);

}  // namespace sheaf
