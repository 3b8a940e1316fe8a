// SPDX-License-Identifier: MIT
#include "execution/launch.h"

#include <utility>

#include "execution/registry.h"
#include "plan/index_error.h"
#include "plan/lower.h"
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
  backend.device->prepare(queue.stream);
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

namespace {

BadIndex bad_index(const Plan& plan, const Verdict& verdict) {
  const TensorSpec& spec = plan.indices();
  BadIndex bad;
  bad.position = Dims(spec.rank(), 0);
  auto rest = static_cast<int64_t>(~verdict.not_first);
  for (int d = spec.rank() - 1; d >= 0; --d) {
    bad.position[d] = rest % spec.sizes[d];
    rest /= spec.sizes[d];
  }
  const int tuple = tuple_dim(plan.request());
  bad.component = tuple < 0 ? 0 : static_cast<int>(bad.position[tuple]);
  bad.count = static_cast<int64_t>(verdict.bad);
  bad.value = spec.dtype == u64 ? std::to_string(verdict.value)
                                : std::to_string(static_cast<int64_t>(verdict.value));
  return bad;
}

[[noreturn]] void throw_indices_changed(const Plan& plan) {
  Refusal refusal = refusal_of(plan.request(), {Reason::kIndex, "indices"}, "index out of range",
                               "an index was out of range when it was read, and no longer is: "
                               "indices changed while the call ran",
                               "indices that nothing writes to during a call");
  refusal.code = ErrorCode::kIndexOutOfRange;
  throw IndexError(std::move(refusal), Dims(plan.indices().rank(), 0), 1);
}

}  // namespace

void throw_bad_index_met(const Plan& plan, const void* indices) {
  throw_first_bad_index(plan, indices);
  throw_indices_changed(plan);
}

void check_before(const Plan& plan, const Backend& backend, Checks kernel_checks,
                  const std::byte* indices, bool output_is_fresh, Launch& launch) {
  if (plan.nest().out_of_range != OutOfRange::kFail || kernel_checks == Checks::kFirst) {
    return;
  }
  if (kernel_checks == Checks::kWhileMoving && output_is_fresh) {
    launch.check_while_moving = true;
    if (backend.device != nullptr) {
      backend.device->zero(launch.verdict, sizeof(Verdict), launch.stream);
    }
    return;
  }
  const bool good = backend.check(plan, indices, launch);
  throw_if_cancelled(launch.cancel, plan.request());
  if (!good) {
    throw_bad_index_met(plan, indices);
  }
}

void finish_launches(const Plan& plan, const Backend& device, const std::byte* indices,
                     const Launch& launch, const char* what) {
  if (launch.check_while_moving) {
    device.device->complete_verdict(plan, indices, launch);
  }
  submit(*device.device, launch.stream, what);
}

void submit(const DeviceSteps& device, void* stream, const char* what) {
  if (device.submit != nullptr) {
    device.submit(stream);
  }
  device.check_launches(what);
}

void wait(const Queue& queue) {
  if (const Backend* const backend = prepared_device(queue)) {
    backend->device->wait(nullptr, queue.stream);
  }
}

void finish(const Plan& plan, const Queue& queue) {
  const Backend* const backend = prepared_device(queue);
  if (backend == nullptr) {
    return;
  }
  const bool fails = plan.nest().out_of_range == OutOfRange::kFail;
  if (fails && (queue.workspace.memory == nullptr || queue.workspace.bytes < sizeof(Verdict))) {
    refuse(plan.request(), {Reason::kMemory}, "no verdict to read",
           "under the rule fail a run leaves it in its workspace, and this one has no room for it",
           "the workspace that the run was given");
  }
  const auto* on_device = fails ? static_cast<const Verdict*>(queue.workspace.memory) : nullptr;
  const Verdict verdict = backend->device->wait(on_device, queue.stream);
  if (fails && verdict.bad != 0) {
    throw_bad_index(plan, bad_index(plan, verdict));
  }
  if (fails && verdict.met != 0) {
    throw_indices_changed(plan);
  }
}

}  // namespace sheaf
