// SPDX-License-Identifier: MIT
//
// What is behind a sheaf_queue, and how a C call finds its way to the right one.
#pragma once

#include <optional>

#include "execution/run.h"
#include "sheaf/c.h"
#include "sheaf/queue.h"

struct sheaf_queue {
  std::string_view device;  // empty: the host
  int threads = 0;
  void* stream = nullptr;
  std::optional<sheaf::DeviceMemory> workspace = {};
  std::optional<sheaf::Plan> unreported = {};  // the last run under kFail, until finish()
};

namespace sheaf {

// Runs a plan on tensors that are in memory of `device` (empty: the host): on `queue`, or, if that
// is null, at once and to the end. Refuses a queue of another device.
void run_in_place(const Plan& plan, const TensorMemory& memory, std::string_view device,
                  sheaf_queue* queue, const RunOptions& options);

}  // namespace sheaf
