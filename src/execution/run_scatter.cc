// SPDX-License-Identifier: MIT
//
// The driver of scatters: the steps of plan/scatter_steps.h, each by the backend of the nest's
// kernel.
#include <memory>
#include <new>

#include "execution/choice.h"
#include "execution/host_steps.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "plan/scatter_steps.h"
#include "support/float_mode.h"

namespace sheaf {
namespace {

// A scatter of narrow floats that accumulates in f32: data and updates are copied to f32, the plan
// of the copies runs, and its output is rounded once. The copies are the run's own, so the output
// is untouched until the indices have passed.

using Floats = std::unique_ptr<float[]>;

Floats take_floats(const Plan& plan, int64_t count) {
  Floats floats(new (std::nothrow) float[static_cast<size_t>(count)]);
  if (floats == nullptr) {
    refuse_as(ErrorCode::kOutOfMemory, plan.request(), {Reason::kMemory}, "out of memory",
              "the copies in f32 do not fit into memory",
              "fewer elements per call, or accumulate_f32 = false");
  }
  return floats;
}

// The three conversions, on the host or on a device.
struct Conversions {
  const Plan& plan;
  const WideSteps& steps;
  void (*convert)(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
                  const Launch& launch);

  void widen(const TensorMemory& memory, float* data, float* updates, const Launch& launch) const {
    const DType narrow = plan.output().dtype;
    if (!plan.request().onto_zeros && steps.data_elements > 0) {
      convert(steps.widen_data, narrow, f32, static_cast<const std::byte*>(memory.data),
              reinterpret_cast<std::byte*>(data), launch);
    }
    if (steps.update_elements > 0) {
      convert(steps.widen_updates, narrow, f32, static_cast<const std::byte*>(memory.updates),
              reinterpret_cast<std::byte*>(updates), launch);
    }
  }

  void narrow(const float* data, void* output, const Launch& launch) const {
    if (steps.data_elements > 0) {
      convert(steps.narrow, f32, plan.output().dtype, reinterpret_cast<const std::byte*>(data),
              static_cast<std::byte*>(output), launch);
    }
  }
};

void run_on_host(const Conversions& conversions, const TensorMemory& memory, const Queue& queue,
                 const RunOptions& options) {
  const Plan& plan = conversions.plan;
  const Floats data = take_floats(plan, conversions.steps.data_elements);
  const Floats updates = take_floats(plan, conversions.steps.update_elements);
  const Launch launch = host_launch(queue);
  conversions.widen(memory, data.get(), updates.get(), launch);
  throw_if_cancelled(launch.cancel, plan.request());
  try {
    start_scatter(conversions.steps.plan, {data.get(), memory.indices, updates.get(), data.get()},
                  queue, {.threads = options.threads, .kernel = options.kernel});
  } catch (const IndexError&) {
    throw_bad_index_met(plan, memory.indices);  // in terms of the tensors that were passed
  }
  conversions.narrow(data.get(), memory.output, launch);
  throw_if_cancelled(launch.cancel, plan.request());
}

void run_on_device(const Conversions& conversions, const Backend& device,
                   const TensorMemory& memory, const Queue& queue, const RunOptions& options) {
  const Plan& plan = conversions.plan;
  const DType narrow = plan.output().dtype;
  check_alignment(plan, *device.device, "output", narrow, memory.output);
  check_alignment(plan, *device.device, "updates", narrow, memory.updates);
  if (!plan.request().onto_zeros) {
    check_alignment(plan, *device.device, "data", narrow, memory.data);
  }
  const size_t inner = workspace_bytes(conversions.steps.plan, queue, options);
  const WideLayout layout = wide_layout(plan, inner);
  check_workspace(plan, queue, layout.bytes);
  auto* const workspace = static_cast<std::byte*>(queue.workspace.memory);
  auto* const data = reinterpret_cast<float*>(workspace + layout.data);
  auto* const updates = reinterpret_cast<float*>(workspace + layout.updates);
  Launch launch;
  launch.stream = queue.stream;  // without a verdict, for there is none yet
  conversions.widen(memory, data, updates, launch);
  Queue copies = queue;
  copies.workspace = {workspace, layout.data};
  start_scatter(conversions.steps.plan, {data, memory.indices, updates, data}, copies,
                {.kernel = options.kernel});
  if (plan.nest().out_of_range == OutOfRange::kFail) {
    launch.verdict = static_cast<Verdict*>(queue.workspace.memory);
  }
  conversions.narrow(data, memory.output, launch);
  submit(*device.device, queue.stream, "rounding what a scatter accumulated");
}

void start_wide_scatter(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                        const RunOptions& options) {
  const WideSteps& steps = *plan.scatter_steps().wide;
  if (const Backend* const device = prepared_device(queue)) {
    run_on_device({plan, steps, device->device->convert}, *device, memory, queue, options);
  } else {
    run_on_host({plan, steps, host_convert}, memory, queue, options);
  }
}

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
  const Choice<ScatterBuffers> choice = choose_scatter(plan,
                                                       {.nest = nest,
                                                        .addresses = addresses,
                                                        .relaxed = plan.request().relaxed,
                                                        .plan = &plan,
                                                        .stream = queue.stream},
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
