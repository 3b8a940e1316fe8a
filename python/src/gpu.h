// SPDX-License-Identifier: MIT
//
// The little that the package itself wants of CUDA; everything else is sheaf/cuda.h's. Made in
// cuda/gpu.cc, or in no_cuda/gpu.cc where the build has no CUDA.
#pragma once

#include <cstddef>

#include "sheaf/cuda.h"

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
