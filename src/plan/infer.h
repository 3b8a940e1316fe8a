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

// The sizes of the grid (a gather's output, a scatter's updates) by each operator's rule; axis and
// batch_dims are made non-negative, and XLA's scatter gets its slice sizes.
Dims infer_sizes(Request& request);
Dims infer_xla_sizes(Request& request);

// What only scatters have: a reduction that fits the type, and updates of the right type and shape.
void check_reduction(const Request& request);
void check_updates(const Request& request, const Dims& sizes);

}  // namespace sheaf
