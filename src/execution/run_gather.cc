// SPDX-License-Identifier: MIT
//
// Running a gather: the last checks, then the first kernel that accepts.
#include "execution/choice.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "execution/verdict.h"
#include "plan/index_error.h"

namespace sheaf {
namespace {

Launch launch_on_device(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                        const Choice<GatherBuffers>& choice) {
  check_alignment(plan, *choice.backend->device, "indices", plan.indices().dtype, memory.indices);
  return device_launch(plan, queue, workspace_layout(plan, kernel_bytes(choice, plan.nest(), 0)));
}

}  // namespace

void start_gather(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                  const RunOptions& options) {
  check_gather_memory(plan, memory);
  const Backend* const device = prepared_device(queue);
  const Nest& nest = plan.nest();
  const auto addresses =
      reinterpret_cast<uintptr_t>(memory.data) | reinterpret_cast<uintptr_t>(memory.output);
  const Choice<GatherBuffers> choice = choose_gather(
      plan, {.nest = nest, .addresses = addresses, .plan = &plan}, device, options.kernel);
  const Backend& backend = *choice.backend;
  // Made in place: a copy right after it was written would wait for the writes.
  Launch launch =
      device == nullptr ? host_launch(queue) : launch_on_device(plan, memory, queue, choice);
  launch.plan = &plan;
  const GatherBuffers buffers{static_cast<const std::byte*>(memory.data),
                              static_cast<const std::byte*>(memory.indices),
                              static_cast<std::byte*>(memory.output)};
  check_before(plan, backend, nest.empty() ? Checks::kNever : choice.kernel->checks,
               buffers.indices, options.output_is_fresh, launch);
  const bool good = nest.empty() || choice.kernel->run(nest, buffers, launch);
  throw_if_cancelled(launch.cancel, plan.request());
  if (!good) {
    throw_bad_index_met(plan, memory.indices);
  }
  if (device != nullptr) {
    finish_launches(plan, *device, buffers.indices, launch, "starting a gather");
  }
}

}  // namespace sheaf
