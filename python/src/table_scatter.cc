// SPDX-License-Identifier: MIT
//
// Scatters into tables, by run_scatter of sheaf/table.h: rows that devices keep follow.
#include "errors.h"
#include "plan/infer.h"
#include "plan/request.h"
#include "support/text.h"
#include "table_call.h"

namespace sheaf::python {
namespace {

// Refuses an array that cannot be written to, as it is now.
void check_writable(const Rows& rows, std::string_view call) {
  if (rows.array() != nullptr) {
    View target;
    view_array(target, rows.array()->object, {call, Role::kOutput});
  }
}

// Updates of another type that converts to the table's, within the same kind or to a wider one.
// Others stay as they are, and are refused by the plan.
void view_updates(RowsCall& given, const Rows& rows, nb::handle updates, std::string_view call) {
  const View* const array = rows.array();
  const Elements like{rows.table.spec().dtype, array == nullptr ? nullptr : array->descr()};
  given.view(given.updates, updates, Role::kUpdates, call, &like);
  if (array == nullptr ||
      (given.updates.tensor.spec.dtype == like.dtype && same_meaning(given.updates, *array))) {
    return;
  }
  const nb::object cast = nb::module_::import_("sheaf._interop")
                              .attr("cast_updates")(given.updates.object, array->object);
  if (!cast.is_none()) {
    given.updates = View();
    given.view(given.updates, cast, Role::kUpdates, call, &like);
  }
}

// Lets updates repeat to the shape that the operator wants. What does not fit stays as it is, and
// is refused by the plan.
void stretch_to_table(const Request& options, View& updates) {
  Request request = options;
  try {
    stretch(updates, infer_sizes(request));
  } catch (const Error&) {
  }
}

}  // namespace

void scatter_rows(const Rows& rows, std::string_view op, nb::handle indices, nb::handle updates,
                  int64_t axis, int64_t batch_dims, std::string_view reduction, bool include_self,
                  bool relaxed, std::string_view accumulate, std::string_view out_of_range,
                  std::string_view negative, int threads) {
  const Op which = op_from_name(op);
  const std::string_view name = to_string(which);
  const View* const array = rows.array();
  check_writable(rows, name);
  RowsCall given;
  given.view(given.indices, indices, Role::kIndices, name);
  view_updates(given, rows, updates, name);
  check_places(name, rows, given);
  refuse_other_meaning(name, rows, "updates", given.updates);
  Request request = request_from(which);
  set_options(request,
              ScatterKeywords{axis, batch_dims, reduction, include_self, relaxed, accumulate,
                              out_of_range, negative},
              array == nullptr ? nullptr : array->descr());
  request.data = rows.table.spec();
  request.indices = given.indices.tensor.spec;
  request.updates = given.updates.tensor.spec;
  request.set_output(rows.table.spec());
  stretch_to_table(request, given.updates);
  request.updates = given.updates.tensor.spec;
  const auto known = plan_for(request);
  const Plan& plan = known->plan;
  const bool reports =
      rows.table.place() == TablePlace::kDevice && plan.nest().out_of_range == OutOfRange::kFail;
  run_where_indices_are(
      rows, given, name, thread_limit(threads), reports,
      [&](const Queue& queue) {
        run_scatter(plan, rows.table, given.indices.tensor.data, given.updates.tensor.data, queue);
      },
      [&](const Queue& queue) { finish(plan, rows.table, queue); });
  if (array != nullptr && array_type_of(array->object).library == Library::kTorch) {
    count_change(array->object);
  }
}

}  // namespace sheaf::python
