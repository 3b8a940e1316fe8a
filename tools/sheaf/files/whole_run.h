// SPDX-License-Identifier: MIT
//
// An operator on whole tensors, on the host or on a device.
#pragma once

#include <string>

#include "sheaf/sheaf.h"

namespace sheaf::cli {

// Loads the table and runs the plan on it; `device` is empty for the host. `updates` is not looked
// at in a gather.
Array run_whole(const Plan& plan, const Table& table, const ConstTensor& indices,
                const ConstTensor& updates, const std::string& device, int threads);

}  // namespace sheaf::cli
