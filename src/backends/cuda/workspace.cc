// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <utility>

#include "backends/cuda/device.h"
#include "backends/cuda/gather.h"
#include "backends/cuda/run.h"
#include "backends/cuda/scatter_nest.h"

namespace sheaf::cuda {

size_t workspace_bytes(const Plan& plan) {
  const size_t verdict = plan.nest().out_of_range == OutOfRange::kFail ? kWorkspaceAlignment : 0;
  return verdict +
         (plan.is_scatter() ? scatter_layout(plan).bytes : gather_workspace_bytes(plan.nest()));
}

Workspace::Workspace(const Plan& plan) : Workspace(workspace_bytes(plan)) {}

Workspace::Workspace(size_t bytes) {
  if (bytes > 0) {
    current_device();
    check_result(cudaMalloc(&view_.memory, bytes), "taking memory for a workspace");
    view_.bytes = bytes;
  }
}

Workspace::Workspace(Workspace&& other) noexcept : view_(std::exchange(other.view_, {})) {}

Workspace& Workspace::operator=(Workspace&& other) noexcept {
  std::swap(view_, other.view_);
  return *this;
}

Workspace::~Workspace() {
  if (view_.memory != nullptr) {
    cudaFree(view_.memory);
  }
}

}  // namespace sheaf::cuda
