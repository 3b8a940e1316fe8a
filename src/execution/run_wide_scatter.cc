// SPDX-License-Identifier: MIT
//
// A scatter of narrow floats that accumulates in f32: data and updates are copied to f32, the plan
// of the copies runs, and its output is rounded once. The copies are the run's own, so the output
// is untouched until the indices have passed.
#include <memory>
#include <new>

#include "execution/host_steps.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "execution/verdict.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "plan/scatter_steps.h"

namespace sheaf {
namespace {

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
  device.device->check_launches("rounding what a scatter accumulated");
}

}  // namespace

void start_wide_scatter(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                        const RunOptions& options) {
  const WideSteps& steps = *plan.scatter_steps().wide;
  if (const Backend* const device = prepared_device(queue)) {
    run_on_device({plan, steps, device->device->convert}, *device, memory, queue, options);
  } else {
    run_on_host({plan, steps, host_convert}, memory, queue, options);
  }
}

}  // namespace sheaf
