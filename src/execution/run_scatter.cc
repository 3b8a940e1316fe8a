// SPDX-License-Identifier: MIT
//
// Running a scatter: the steps of plan/scatter_steps.h, each by the backend of the nest's kernel.
#include <memory>
#include <new>

#include "execution/choice.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "execution/verdict.h"
#include "plan/refuse.h"
#include "plan/scatter_steps.h"
#include "support/float_mode.h"

namespace sheaf {
namespace {

// Host memory that a scatter takes, all of it before anything is written: if there is none, the
// output is still untouched.
struct HostScratch {
  std::unique_ptr<std::byte[]> kernel;
  std::unique_ptr<int64_t[]> counts;  // zeros
};

HostScratch take_scratch(const Plan& plan, size_t kernel_bytes) {
  HostScratch scratch;
  if (kernel_bytes > 0) {
    scratch.kernel.reset(new (std::nothrow) std::byte[kernel_bytes]);  // kernels can do without
  }
  if (const auto& mean = plan.scatter_steps().mean) {
    scratch.counts.reset(new (std::nothrow) int64_t[static_cast<size_t>(mean->count_elements)]());
    if (scratch.counts == nullptr) {
      refuse_as(ErrorCode::kOutOfMemory, plan.request(), {Reason::kMemory}, "out of memory",
                "the counts of a mean do not fit into memory",
                "fewer elements per call, or reduction = add");
    }
  }
  return scratch;
}

// One scatter, ready to run.
struct ScatterRun {
  const Plan& plan;
  const Backend& backend;
  const ScatterKernel& kernel;
  Launch launch;
  ScatterBuffers buffers;
  std::byte* counts;

  void copy_base(const void* data) const {
    const bool zeros = plan.request().onto_zeros;
    if (zeros || data != buffers.data) {
      backend.copy(plan.scatter_steps().base, zeros ? nullptr : static_cast<const std::byte*>(data),
                   buffers.data, launch);
      throw_if_cancelled(launch.cancel, plan.request());
    }
  }

  void apply_updates(const void* indices) const {
    const ScatterSteps& steps = plan.scatter_steps();
    if (steps.start) {
      backend.fill(backend, *steps.start, steps.neutral, buffers, launch);
      throw_if_cancelled(launch.cancel, plan.request());
    }
    const bool good = kernel.run(plan.nest(), buffers, launch);
    throw_if_cancelled(launch.cancel, plan.request());
    if (!good) {
      throw_bad_index_met(plan, indices);
    }
    if (steps.mean) {
      backend.count(backend, steps.mean->count, {counts, buffers.indices, nullptr}, launch);
      throw_if_cancelled(launch.cancel, plan.request());
      backend.divide(steps.mean->divide, plan.output().dtype, counts, buffers.data,
                     plan.request().include_self ? 1 : 0, launch);
      throw_if_cancelled(launch.cancel, plan.request());
    }
  }
};

void check_device_addresses(const Plan& plan, const DeviceSteps& device,
                            const TensorMemory& memory) {
  check_alignment(plan, device, "indices", plan.indices().dtype, memory.indices);
  if (plan.nest().reduction != Reduction::kNone) {  // kernels compute with whole elements
    check_alignment(plan, device, "output", plan.output().dtype, memory.output);
    check_alignment(plan, device, "updates", plan.output().dtype, memory.updates);
  }
}

}  // namespace

void start_scatter(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                   const RunOptions& options) {
  check_scatter_memory(plan, memory);
  const DefaultFloatMode mode;  // the caller's must not change the bits of a sum
  if (plan.scatter_steps().wide) {
    start_wide_scatter(plan, memory, queue, options);
    return;
  }
  const Backend* const device = prepared_device(queue);
  const Nest& nest = plan.nest();
  const auto addresses =
      reinterpret_cast<uintptr_t>(memory.output) | reinterpret_cast<uintptr_t>(memory.updates);
  const Choice<ScatterBuffers> choice = choose_scatter(
      plan,
      {.nest = nest, .addresses = addresses, .relaxed = plan.request().relaxed, .plan = &plan},
      device, options.kernel);
  const size_t kernel = nest.empty() ? 0 : kernel_bytes(choice, nest, queue.threads);
  ScatterRun run{
      plan,
      *choice.backend,
      *choice.kernel,
      host_launch(queue),
      {static_cast<std::byte*>(memory.output), static_cast<const std::byte*>(memory.indices),
       static_cast<const std::byte*>(memory.updates)},
      nullptr};
  HostScratch scratch;
  if (device != nullptr) {
    check_device_addresses(plan, *device->device, memory);
    const WorkspaceLayout layout = workspace_layout(plan, kernel);
    run.launch = device_launch(plan, queue, layout);
    run.counts = static_cast<std::byte*>(queue.workspace.memory) + layout.counts;
  } else if (!nest.empty()) {
    scratch = take_scratch(plan, kernel);
    run.launch.workspace = scratch.kernel.get();
    run.counts = reinterpret_cast<std::byte*>(scratch.counts.get());
  }
  const bool fresh = options.output_is_fresh && memory.data != memory.output;
  check_before(plan, run.backend, nest.empty() ? Checks::kNever : run.kernel.checks,
               run.buffers.indices, fresh, run.launch);
  if (!plan.scatter_steps().base.empty()) {  // else there is no element to write to
    run.copy_base(memory.data);
    if (!nest.empty()) {
      if (device != nullptr && plan.scatter_steps().mean) {
        device->device->zero(
            run.counts,
            sizeof(int64_t) * static_cast<size_t>(plan.scatter_steps().mean->count_elements),
            queue.stream);
      }
      run.apply_updates(memory.indices);
    }
  }
  if (device != nullptr) {
    finish_launches(plan, *device, run.buffers.indices, run.launch, "starting a scatter");
  }
}

}  // namespace sheaf
