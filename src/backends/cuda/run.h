// SPDX-License-Identifier: MIT
//
// What a gather and a scatter have in common before their kernels start.
#pragma once

#include "backends/cuda/launch.h"
#include "plan/request.h"

namespace sheaf::cuda {

// Bytes at the head of a workspace that hold the verdict under kFail. All parts are this far apart.
inline constexpr size_t kWorkspaceAlignment = 256;

// The head of the workspace under kFail, else null.
Verdict* verdict_of(const Plan& plan, WorkspaceView workspace);

// Refuses a workspace that is too small or misaligned, and indices at an odd address.
void check_call(const Plan& plan, const void* indices, WorkspaceView workspace);

// The walk over all indices of a plan.
CheckArgs check_args(const Plan& plan, const void* indices, Verdict* verdict);

// Starts the check of all indices, if the plan wants one.
void start_check(const CheckArgs& args, Stream stream);

}  // namespace sheaf::cuda
