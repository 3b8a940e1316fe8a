// SPDX-License-Identifier: MIT
//
// What the package itself needs of CUDA: the current device, captured graphs, and bad indices that
// are found in the order of a stream and reported when somebody waits for it. Everything else is
// sheaf/cuda.h's. The functions in namespace gpu are in cuda/runtime.cc, or in no_cuda/runtime.cc
// where the build has no CUDA.
#pragma once

#include <cstddef>

#include "arrays.h"
#include "sheaf/cuda.h"
#include "sheaf/plan.h"

namespace sheaf::python::gpu {

// Makes `device` the current one of this thread, for as long as this lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = -1;  // -1: there is nothing to undo
};

// Whether what is put on `stream` becomes part of a graph and does not run now.
bool capturing(cuda::Stream stream);

// Waits for everything on the current device.
void wait_for_device();

// Writes zeros to device memory that no kernel uses. Done when it returns, even during a capture,
// of which it is no part.
void clear(const cuda::WorkspaceView& memory);

}  // namespace sheaf::python::gpu

namespace sheaf::python {

// The end of a run of `plan` on `placement`, which used `workspace`: waits and throws IndexError,
// or keeps the verdict for check_verdicts(). Rules other than "fail" have no verdict and do not
// wait.
void settle(const Plan& plan, const Placement& placement, const GpuMemory& workspace);

// Whether a run there now would keep its verdict: while a graph is captured, or inside
// deferred_errors().
bool reports_later(const Placement& placement);

// Runs keep their verdicts while there are more beginnings (+1) than ends (-1).
void defer_verdicts(int change);

// Waits for all verdicts that were kept, then throws the first bad one. Those of captured graphs
// stay, for the next replay.
void check_verdicts();

// Lets go of those of captured graphs.
void forget_captured();

}  // namespace sheaf::python
