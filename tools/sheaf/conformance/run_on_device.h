// SPDX-License-Identifier: MIT
//
// A case on the GPU: its tensors go there with their gaps, and the output comes back with them.
#pragma once

#include "conformance/layout.h"
#include "sheaf/plan.h"

namespace sheaf::cli {

// Throws as Plan::run does; `updates` is not looked at in a gather.
void run_on_device(const Plan& plan, Placed& data, Placed& indices, Placed& updates,
                   Placed& output);

}  // namespace sheaf::cli
