// SPDX-License-Identifier: MIT
//
// A run of any kind of plan on a GPU, in the order of a stream of the caller's library.
#pragma once

#include "bindings.h"
#include "gpu.h"

namespace sheaf::python {

// `start(queue, options)` starts the plan. `fails`: finish() may have something to report, which is
// waited for, or kept for check_verdicts(). `fresh` and `last_check` as run_at() has them.
template <class AnyPlan, class Start, class LastCheck>
void run_on_gpu(const Placement& placement, const AnyPlan& plan, bool fails, bool fresh,
                const Start& start, const LastCheck& last_check) {
  const gpu::DeviceGuard guard(placement.device);
  const bool later = fails && reports_later(placement);
  const RunOptions options{.output_is_fresh = fresh && !later};
  const size_t bytes = workspace_bytes(plan, gpu::queue_at(placement, {}), options);
  const bool waits = (fails && bytes != 0 && !later) || placement.waits;
  const GpuMemory workspace = waits ? spare_memory(placement, bytes) : gpu_memory(placement, bytes);
  if (last_check) {
    last_check();
  }
  const Queue queue = gpu::queue_at(placement, workspace.view);
  without_gil([&] { start(queue, options); });
  if (waits) {
    without_gil([&] { finish(plan, queue); });
    keep_spare(placement, workspace);
  } else if (later) {
    keep_verdict([plan](const Queue& used) { finish(plan, used); }, placement, workspace);
  }
}

}  // namespace sheaf::python
