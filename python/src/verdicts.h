// SPDX-License-Identifier: MIT
//
// Bad indices on a GPU: found in the order of a stream, told when somebody waits for it. A verdict
// stands in the workspace of the run that made it.
#pragma once

#include "results.h"
#include "sheaf/plan.h"

namespace sheaf::python {

// The end of a run of `plan` on `lane`, which used `workspace`: waits and throws IndexError, or
// keeps the verdict for check_verdicts(). Rules other than "fail" have no verdict and do not wait.
void settle(const Plan& plan, const Lane& lane, const GpuMemory& workspace);

// Runs keep their verdicts while there are more beginnings (+1) than ends (-1).
void defer_verdicts(int change);

// Waits for all verdicts that were kept, then throws the first bad one. Those of captured graphs
// stay, for the next replay.
void check_verdicts();

// Lets go of those of captured graphs.
void forget_captured();

}  // namespace sheaf::python
