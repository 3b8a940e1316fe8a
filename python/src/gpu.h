// SPDX-License-Identifier: MIT
//
// All that the package knows of CUDA: its names in other packages, the current device, captured
// graphs, and bad indices that are found in the order of a stream and reported when somebody waits
// for it; and that there are GPUs by Vulkan too. Everything else is a queue's (sheaf/queue.h). What
// calls CUDA itself is in cuda/runtime.cc, or in no_cuda/runtime.cc where the build has no CUDA.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "arrays.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"

namespace sheaf::python::gpu {

inline constexpr std::string_view kName = "cuda";    // of the backend
inline constexpr const char* kXlaPlatform = "CUDA";  // of JAX's devices
inline constexpr std::string_view kVulkanName = "vulkan";

// The backend of a device that is_gpu(), and the type of memory that it allocates.
std::string_view name_of(const DLDevice& device);
DLDeviceType own_type(const DLDevice& device);

Queue queue(WorkspaceView workspace, void* stream);
Queue queue_at(const Placement& placement, WorkspaceView workspace);

// Makes `device` the current one of this thread, for as long as this lives. Vulkan knows no such
// thing.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);  // negative: none
  explicit DeviceGuard(const DLDevice& device)
      : DeviceGuard(device.device_type == kDLVulkan ? -1 : device.device_id) {}
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = -1;  // negative: there is nothing to undo
};

// Whether what is put on `stream`, which is CUDA's, becomes part of a graph and does not run now.
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
using Finish = std::function<void(const Queue& queue)>;  // finish() of the plan that ran
void keep_verdict(Finish finish, const Placement& placement, const GpuMemory& workspace);

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
