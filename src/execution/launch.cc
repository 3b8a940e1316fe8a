// SPDX-License-Identifier: MIT
#include "execution/launch.h"

#include "execution/registry.h"
#include "plan/refuse.h"
#include "plan/scatter_steps.h"
#include "support/text.h"

namespace sheaf {
namespace {

constexpr size_t kAlignment = 256;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

const Backend* prepared_device(const Queue& queue) {
  if (queue.device.empty()) {
    return nullptr;
  }
  const Backend& backend = device_backend(queue.device);
  backend.device->prepare();
  return &backend;
}

WorkspaceLayout workspace_layout(const Plan& plan, size_t kernel_bytes) {
  WorkspaceLayout layout;
  layout.kernel = plan.nest().out_of_range == OutOfRange::kFail ? aligned(sizeof(Verdict)) : 0;
  layout.counts = layout.kernel + aligned(kernel_bytes);
  layout.bytes = layout.counts;
  if (plan.is_scatter() && plan.scatter_steps().mean && !plan.nest().empty()) {
    layout.bytes +=
        aligned(sizeof(int64_t) * static_cast<size_t>(plan.scatter_steps().mean->count_elements));
  }
  return layout;
}

void check_workspace(const Plan& plan, const Queue& queue, size_t needed) {
  const WorkspaceView& workspace = queue.workspace;
  if (workspace.bytes < needed || (workspace.memory == nullptr && needed > 0)) {
    refuse(plan.request(), {Reason::kMemory}, "workspace too small",
           cat("the workspace has ", workspace.memory == nullptr ? 0 : workspace.bytes,
               " bytes, but the plan needs ", needed),
           cat("as many bytes as workspace_bytes(plan) returns, on device ", queue.device));
  }
  if (needed > 0 && reinterpret_cast<uintptr_t>(workspace.memory) % kAlignment != 0) {
    refuse(plan.request(), {Reason::kMemory}, "misaligned workspace",
           cat("its address is not a multiple of ", kAlignment, " bytes"),
           "memory as the device's allocator returns it");
  }
}

WideLayout wide_layout(const Plan& plan, size_t inner) {
  WideLayout layout;
  layout.data = layout.updates = layout.bytes = aligned(inner);
  if (const auto& wide = plan.scatter_steps().wide) {
    layout.updates += aligned(sizeof(float) * static_cast<size_t>(wide->data_elements));
    layout.bytes =
        layout.updates + aligned(sizeof(float) * static_cast<size_t>(wide->update_elements));
  }
  return layout;
}

Launch host_launch(const Queue& queue) {
  return {.cancel = current_cancel_scope(), .threads = queue.threads};
}

Launch device_launch(const Plan& plan, const Queue& queue, const WorkspaceLayout& layout) {
  check_workspace(plan, queue, layout.bytes);
  auto* const memory = static_cast<std::byte*>(queue.workspace.memory);
  const bool fails = plan.nest().out_of_range == OutOfRange::kFail;
  return {.stream = queue.stream,
          .verdict = fails ? reinterpret_cast<Verdict*>(memory) : nullptr,
          .workspace = memory + layout.kernel};
}

void check_alignment(const Plan& plan, const DeviceSteps& device, const char* tensor, DType type,
                     const void* memory) {
  const int64_t multiple = device.alignment(type);
  if (reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(multiple) != 0) {
    refuse(plan.request(), {Reason::kMemory}, "misaligned pointer",
           cat(tensor, " is ", type.name(), ", but its address is not a multiple of ", multiple,
               " bytes, as the device needs"),
           "a copy of the tensor at an aligned address");
  }
}

}  // namespace sheaf
