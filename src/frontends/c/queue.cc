// SPDX-License-Identifier: MIT
#include "frontends/c/queue.h"

#include <utility>

#include "frontends/c/dlpack.h"
#include "frontends/c/plan.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

struct PlanRun {
  Plan plan;
  TensorMemory memory;
  RunOptions options;

  void start(const Queue& queue) const {
    if (plan.is_scatter()) {
      start_scatter(plan, memory, queue, options);
    } else {
      start_gather(plan, memory, queue, options);
    }
  }
  void finish(const Queue& queue) const { sheaf::finish(plan, queue); }
  size_t workspace_bytes(const Queue& queue) const { return sheaf::workspace_bytes(plan, queue); }
  bool reports() const { return plan.nest().out_of_range == OutOfRange::kFail; }
};

sheaf_queue& required_queue(sheaf_queue* queue, const char* call) {
  if (queue == nullptr) {
    refuse_null(call, "queue", "a queue that sheaf_queue_host or sheaf_queue_device made");
  }
  return *queue;
}

sheaf_queue*& queue_place(sheaf_queue** queue, const char* call) {
  if (queue == nullptr) {
    refuse_null(call, "queue", "the address of a sheaf_queue*");
  }
  *queue = nullptr;
  return *queue;
}

}  // namespace

Queue view_of(const sheaf_queue& queue) {
  Queue view{.device = queue.device, .threads = queue.threads, .stream = queue.stream};
  if (queue.workspace) {
    view.workspace = *queue.workspace;
  }
  return view;
}

void finish_queue(sheaf_queue& queue) {
  if (queue.unreported) {
    const auto finish_last = std::exchange(queue.unreported, nullptr);
    finish_last(view_of(queue));
  }
}

// Runs take turns in the stream, so one workspace does for all; a larger one waits for them.
void grow_workspace(sheaf_queue& queue, size_t needed) {
  if (queue.workspace && queue.workspace->bytes() >= needed) {
    return;
  }
  DeviceMemory larger(queue.device, needed);
  if (queue.workspace) {
    wait(view_of(queue));
  }
  queue.workspace = std::move(larger);
}

std::string other_device(std::string_view device, const sheaf_queue* queue) {
  const auto name = [](std::string_view place) { return place.empty() ? "the host" : place; };
  return queue == nullptr || queue->device == device
             ? std::string()
             : cat("the tensors are in memory of ", name(device), ", but the queue is of ",
                   name(queue->device));
}

void run_in_place(const Plan& plan, const TensorMemory& memory, std::string_view device,
                  sheaf_queue* queue, const RunOptions& options) {
  if (std::string other = other_device(device, queue); !other.empty()) {
    refuse(plan.request(), {Reason::kMemory}, "queue of another device", std::move(other),
           "a queue of the tensors' device, or none");
  }
  run_in_place(PlanRun{plan, memory, options}, device, queue, options.threads);
}

}  // namespace sheaf

sheaf_status sheaf_queue_host(int32_t threads, sheaf_queue** queue) {
  return sheaf::at_c_boundary([&] {
    sheaf_queue*& place = sheaf::queue_place(queue, "sheaf_queue_host");
    if (threads < 0) {
      throw sheaf::Error(sheaf::Refusal{
          .cause = {.reason = sheaf::Reason::kOption},
          .who = "sheaf_queue_host",
          .what = "threads out of range",
          .detail = sheaf::cat("threads = ", threads, ", but it is a number of threads"),
          .given = "no queue was made",
          .next = "0 for as many as pay"});
    }
    place = new sheaf_queue{.device = {}, .threads = threads};
  });
}

sheaf_status sheaf_queue_device(DLDevice device, void* stream, sheaf_queue** queue) {
  return sheaf::at_c_boundary([&] {
    sheaf_queue*& place = sheaf::queue_place(queue, "sheaf_queue_device");
    const std::string_view name =
        sheaf::device_from_dlpack(device, {"sheaf_queue_device", "device"}, "of a queue");
    place = new sheaf_queue{.device = name, .stream = stream};
  });
}

sheaf_status sheaf_queue_finish(sheaf_queue* queue) {
  return sheaf::at_c_boundary([&] {
    sheaf_queue& q = sheaf::required_queue(queue, "sheaf_queue_finish");
    if (q.unreported) {
      sheaf::finish_queue(q);
    } else {
      sheaf::wait(sheaf::view_of(q));
    }
  });
}

void sheaf_queue_destroy(sheaf_queue* queue) {
  if (queue != nullptr && queue->workspace) {
    sheaf::at_c_boundary([&] { sheaf::wait(sheaf::view_of(*queue)); });
  }
  delete queue;
}
