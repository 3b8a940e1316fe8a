// SPDX-License-Identifier: MIT
//
// What is behind a sheaf_queue, and how a C call finds its way to the right one.
#pragma once

#include <functional>
#include <optional>

#include "execution/run.h"
#include "sheaf/c.h"
#include "sheaf/queue.h"

struct sheaf_queue {
  std::string_view device;  // empty: the host
  int threads = 0;
  void* stream = nullptr;
  std::optional<sheaf::DeviceMemory> workspace = {};
  // finish() of the last run that may have met something bad, until it is called.
  std::function<void(const sheaf::Queue& queue)> unreported = {};
};

namespace sheaf {

// A run on a queue. `Run` has start(queue), finish(queue), workspace_bytes(queue) and reports():
// whether finish() may have something to say.
Queue view_of(const sheaf_queue& queue);
void finish_queue(sheaf_queue& queue);
void grow_workspace(sheaf_queue& queue, size_t needed);

// "the tensors are in memory of …, but the queue is of …", or nothing where they agree.
std::string other_device(std::string_view device, const sheaf_queue* queue);

// Runs on tensors that are in memory of `device` (empty: the host): on `queue`, or, if that is
// null, at once and to the end. The queue is one of that device.
template <class Run>
void run_in_place(const Run& run, std::string_view device, sheaf_queue* queue, int threads) {
  if (device.empty()) {
    run.start({.threads = threads > 0 || queue == nullptr ? threads : queue->threads});
  } else if (queue != nullptr) {
    finish_queue(*queue);
    grow_workspace(*queue, run.workspace_bytes(view_of(*queue)));
    run.start(view_of(*queue));
    if (run.reports()) {
      queue->unreported = [run](const Queue& used) { run.finish(used); };
    }
  } else {
    Queue whole{.device = device};
    const DeviceMemory workspace(device, run.workspace_bytes(whole));
    whole.workspace = workspace;
    run.start(whole);
    run.finish(whole);
  }
}

// A gather or scatter. Refuses a queue of another device.
void run_in_place(const Plan& plan, const TensorMemory& memory, std::string_view device,
                  sheaf_queue* queue, const RunOptions& options);

}  // namespace sheaf
