// SPDX-License-Identifier: MIT
//
// What is behind a sheaf_table_handle, and what all calls on one share.
#pragma once

#include <string_view>

#include "frontends/c/dlpack.h"
#include "frontends/c/options.h"
#include "frontends/c/plan.h"
#include "frontends/c/queue.h"
#include "plan/refuse.h"
#include "sheaf/table.h"
#include "support/text.h"

struct sheaf_table_handle {
  sheaf::Table table;
  DLDataType dtype;         // of the elements, as the caller spells it
  sheaf::TensorSpec shown;  // what sheaf_table_tensor says: of encoded rows the decoded ones
};

namespace sheaf {

// Refuses null.
const sheaf_table_handle& required_table(const sheaf_table_handle* table, const char* call);

inline Request table_request(const sheaf_gather_options& options) {
  return request_from(GatherOptions{.axis = options.axis, .batch_dims = options.batch_dims});
}
inline Request table_request(const sheaf_gather_elements_options& options) {
  return request_from(
      GatherElementsOptions{.axis = options.axis, .broadcast = options.broadcast != 0});
}
inline Request table_request(const sheaf_gather_nd_options& options) {
  return request_from(GatherNdOptions{.batch_dims = options.batch_dims});
}
inline Request table_request(const sheaf_scatter_options& options) {
  return request_from(ScatterOptions{.axis = options.axis, .batch_dims = options.batch_dims});
}
inline Request table_request(const sheaf_scatter_elements_options& options) {
  return request_from(ScatterElementsOptions{.axis = options.axis});
}
inline Request table_request(const sheaf_scatter_nd_options& options) {
  return request_from(ScatterNdOptions{.batch_dims = options.batch_dims});
}

// How a call runs whose tensors are in memory of `device`. Refusals show `r`, the request.
template <class AnyRequest>
void check_run(const AnyRequest& r, std::string_view device, const sheaf_run_options& how) {
  if (std::string other = other_device(device, how.queue); !other.empty()) {
    refuse(r, {Reason::kMemory}, "queue of another device", std::move(other),
           "a queue of the tensors' device, or none");
  }
  if (how.threads < 0) {
    refuse(r, {Reason::kOption}, "threads out of range",
           cat("threads = ", how.threads, ", but it is a number of threads"),
           "0 for as many as pay");
  }
}

// What run_in_place of queue.h does for plans that need a workspace, which a table has itself.
template <class Start, class Finish>
void run_on_queue(std::string_view device, sheaf_queue* queue, int threads, const Start& start,
                  const Finish& finish) {
  if (device.empty()) {
    start(Queue{.threads = threads > 0 || queue == nullptr ? threads : queue->threads});
  } else if (queue != nullptr) {
    finish_queue(*queue);
    start(view_of(*queue));
    queue->unreported = finish;
  } else {
    start(Queue{.device = device});
    finish(Queue{.device = device});
  }
}

}  // namespace sheaf
