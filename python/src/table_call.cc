// SPDX-License-Identifier: MIT
#include "table_call.h"

#include "errors.h"
#include "support/text.h"

namespace sheaf::python {

void RowsCall::view(View& into, nb::handle object, Role role, std::string_view call,
                    const Elements* like) {
  if (!object.is_none()) {
    view_array(into, object, {call, role, like, &placement});
    refuse_large_elements(into);
  }
}

void RowsCall::refuse_changed(const Rows& rows, std::string_view call) const {
  for (const View* each : {&indices, &updates, &segments, &weights, &out}) {
    refuse_if_changed(*each, call);
  }
  if (rows.array() != nullptr) {
    refuse_if_changed(*rows.array(), call);
  }
}

bool RowsCall::captured() const {
  return placement.on_gpu && placement.device.device_type != kDLVulkan &&
         gpu::capturing(placement.stream);
}

void check_places(std::string_view call, const Rows& rows, const RowsCall& given) {
  refuse_other_devices(call, given.placement,
                       {{"indices", &given.indices},
                        {"updates", &given.updates},
                        {"segments", &given.segments},
                        {"weights", &given.weights},
                        {"out", &given.out}});
  const View* const array = rows.array();
  if (array != nullptr && array->on_gpu() && given.placement.on_gpu &&
      !same_device(array->device, given.placement.device)) {
    raise_argument(refusal_text(
        cat(call, ": the table is on another device"),
        cat("the table is on ", text_of(array->device), ", indices is on ",
            text_of(given.placement.device)),
        cat("indices moved to ", text_of(array->device),
            given.updates.object.is_valid() ? " with updates, or both on the host"
                                            : ", or on the host: the result is where they are")));
  }
  if (given.out.object.is_valid() && !given.out.whole_strides) {
    raise_argument(refusal_text(cat(call, ": out has strides that are not whole elements"),
                                "rows are written to it in place", "a contiguous out"));
  }
}

void refuse_other_meaning(std::string_view call, const Rows& rows, const char* name,
                          const View& view) {
  const View* const array = rows.array();
  if (array != nullptr && view.object.is_valid() && !rows.encoded() &&
      view.tensor.spec.dtype == array->tensor.spec.dtype && !same_meaning(view, *array)) {
    raise_dtype(refusal_text(cat(call, ": types differ"),
                             cat(name, " is ", nb::str(view.dtype).c_str(), ", but the table is ",
                                 nb::str(array->dtype).c_str()),
                             cat(name, " of that type; nothing is converted")));
  }
}

const View& kind_of(const Rows& rows, const RowsCall& given) {
  const View* const array = rows.array();
  const View& indices = given.indices;
  const bool same_library = array != nullptr && array->on_gpu() == indices.on_gpu() &&
                            array->foreign == indices.foreign &&
                            (!array->foreign || array_type_of(array->object).library ==
                                                    array_type_of(indices.object).library);
  return same_library ? *array : indices;
}

void wait_for_table(const Rows& rows) {
  const View* const array = rows.array();
  if (array == nullptr || !array->on_gpu()) {
    return;
  }
  const LibraryStream stream = current_stream(array->object, array->device);
  const Queue queue{.device = gpu::name_of(array->device), .stream = stream.stream};
  without_gil([&] { wait(queue); });
}

Queue queue_of(const RowsCall& given, int threads) {
  return given.placement.on_gpu ? gpu::queue_at(given.placement, {}) : Queue{.threads = threads};
}

void refuse_captured_verdict(std::string_view call, std::string_view others) {
  raise_unsupported(
      refusal_text(cat(call, ": out_of_range=\"fail\" in a captured graph"),
                   "a replay of rows from a table cannot report bad indices",
                   cat("out_of_range=", others, "; indices that were checked before")));
}

}  // namespace sheaf::python
