// SPDX-License-Identifier: MIT
//
// One call on a table: the arrays that it was passed, where it runs, and when it is over.
#pragma once

#include <string_view>

#include "bindings.h"
#include "call.h"
#include "gpu.h"
#include "table_rows.h"

namespace sheaf::python {

// What a call was passed besides the table.
struct RowsCall {
  View indices, updates, segments, weights, out;
  Placement placement;

  // Nothing happens to an object that is None.
  void view(View& into, nb::handle object, Role role, std::string_view call,
            const Elements* like = nullptr);
  void refuse_changed(const Rows& rows, std::string_view call) const;
  bool captured() const;
};

// Refuses arrays that are not all in one place, and a table on another device.
void check_places(std::string_view call, const Rows& rows, const RowsCall& given);

// Dates and records are integers and bytes to the library: refuses those that mean something else
// than the table's.
void refuse_other_meaning(std::string_view call, const Rows& rows, const char* name,
                          const View& view);

// Whose kind a new result has: that of indices. Where the table is of the same library it also says
// the dtype, which may have no name here.
const View& kind_of(const Rows& rows, const RowsCall& given);

// Where the arrays of a call are.
Queue queue_of(const RowsCall& given, int threads);

// Refuses a call whose bad indices a replay could not report; `others` are rules that have none.
void refuse_captured_verdict(std::string_view call, std::string_view others);

// Rows of a device that come to the host: what its library still writes is over first.
void wait_for_table(const Rows& rows);

// Runs `start(queue)`. `reports`: after it, `end(queue)` may have something to report. On a GPU the
// call returns before its work is done, unless it must report or its library has no stream.
template <class Start, class End>
void run_where_indices_are(const Rows& rows, const RowsCall& given, std::string_view call,
                           int threads, bool reports, const Start& start, const End& end) {
  const View* const array = rows.array();
  const DLDevice none{kDLVulkan, 0};  // which has no current device
  const gpu::DeviceGuard guard(given.placement.on_gpu                ? given.placement.device
                               : array != nullptr && array->on_gpu() ? array->device
                                                                     : none);
  if (!given.placement.on_gpu) {
    wait_for_table(rows);
  } else if (reports && given.captured()) {
    refuse_captured_verdict(call, given.updates.object.is_valid()
                                      ? "\"skip\", \"clamp\" or \"wrap\""
                                      : "\"clamp\", \"fill\" or \"wrap\"");
  }
  const Queue queue = queue_of(given, threads);
  given.refuse_changed(rows, call);
  without_gil([&] { start(queue); });
  if (given.placement.on_gpu && (reports || given.placement.waits)) {
    without_gil([&] { end(queue); });
  }
}

// table_scatter.cc
void scatter_rows(const Rows& rows, std::string_view op, nb::handle indices, nb::handle updates,
                  int64_t axis, int64_t batch_dims, std::string_view reduction, bool include_self,
                  bool relaxed, std::string_view accumulate, std::string_view out_of_range,
                  std::string_view negative, int threads);

}  // namespace sheaf::python
