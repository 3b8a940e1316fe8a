// SPDX-License-Identifier: MIT
//
// Which kernel runs a plan and why not another, for sheaf explain.
#pragma once

#include <string>
#include <vector>

#include "sheaf/explain.h"

namespace sheaf::cli {

// The kernels in the order in which they are asked, up to the one that runs; or all of them, and
// then those of each device that is available.
std::string kernel_lines(const Plan& plan, bool all);

// The first that refuses nothing; empty if there is none.
std::string first_accepting(const std::vector<KernelReport>& reports);

}  // namespace sheaf::cli
