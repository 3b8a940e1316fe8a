// SPDX-License-Identifier: MIT
//
// Built instead of cuda/runtime.cc where the build has no CUDA. No array on a GPU gets this far: it
// is refused as it comes in.
#include "gpu.h"

namespace sheaf::python::gpu {

DeviceGuard::DeviceGuard(int /*device*/) {}
DeviceGuard::~DeviceGuard() = default;
bool capturing(void* /*stream*/) { return false; }
void wait_for_device() {}
void clear(const WorkspaceView& /*memory*/) {}

}  // namespace sheaf::python::gpu
