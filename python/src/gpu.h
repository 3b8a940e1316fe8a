// SPDX-License-Identifier: MIT
//
// All that the package knows of CUDA: its names in other packages, the current device, captured
// graphs, and bad indices that are found in the order of a stream and reported when somebody waits
// for it. Everything else is a queue's (sheaf/queue.h). What calls CUDA itself is in
// cuda/runtime.cc, or in no_cuda/runtime.cc where the build has no CUDA.
#pragma once

#include <cstddef>
#include <string_view>

#include "arrays.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"

namespace sheaf::python::gpu {

inline constexpr std::string_view kName = "cuda";    // of the backend
inline constexpr const char* kXlaPlatform = "CUDA";  // of JAX's devices
inline constexpr DLDeviceType kDlpackType = kDLCUDA;

Queue queue(WorkspaceView workspace, void* stream);

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
bool capturing(void* stream);

// Waits for everything on the current device.
void wait_for_device();

// Writes zeros to device memory that no kernel uses. Done when it returns, even during a capture,
// of which it is no part.
void clear(const WorkspaceView& memory);

}  // namespace sheaf::python::gpu

namespace sheaf::python {

// Whether a run there now does not wait for its verdict: while a graph is captured, or inside
// deferred_errors().
bool reports_later(const Placement& placement);

// Keeps the verdict of such a run, under the rule "fail", for check_verdicts(). The run used
// `workspace`.
void keep_verdict(const Plan& plan, const Placement& placement, const GpuMemory& workspace);

// At least `bytes` for a run that ends with a wait: what such a run before has left, if there is
// some. PyTorch takes as long to hand out memory as a small run takes.
GpuMemory spare_memory(const Placement& placement, size_t bytes);

// After the wait: for the next run.
void keep_spare(const Placement& placement, const GpuMemory& memory);

// Runs keep their verdicts while there are more beginnings (+1) than ends (-1).
void defer_verdicts(int change);

// Waits for all verdicts that were kept, then throws the first bad one. Those of captured graphs
// stay, for the next replay.
void check_verdicts();

// Lets go of those of captured graphs.
void forget_captured();

}  // namespace sheaf::python
