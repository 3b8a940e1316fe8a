// SPDX-License-Identifier: MIT
//
// A case on a device: its tensors go there with their gaps, and the output comes back with them.
#pragma once

#include <string>

#include "conformance/layout.h"
#include "sheaf/queue.h"

namespace sheaf::cli {

// Whether `name` is a device of this build.
bool is_device(const std::string& name);

// Throws as Plan::run does; `updates` is not looked at in a gather.
void run_on_device(const Plan& plan, const std::string& device, Placed& data, Placed& indices,
                   Placed& updates, Placed& output);

}  // namespace sheaf::cli
