// SPDX-License-Identifier: MIT
#include "frontends/onnx/slice_window.h"

#include <algorithm>

#include "frontends/onnx/bad_node.h"
#include "support/text.h"

namespace sheaf::onnx {

SliceWindow whole_window(const Dims& sizes) {
  return {Dims(sizes.size(), 0), Dims(sizes.size(), 1), sizes};
}

void narrow_window(SliceWindow& window, int d, int64_t start, int64_t end, int64_t step) {
  const int64_t size = window.sizes[d];
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto place = [&](int64_t at) {
    at = std::clamp(at, -size - 1, size);  // so that the sum below is small
    return std::clamp(at < 0 ? at + size : at, lowest, highest);
  };
  const int64_t first = place(start), distance = step > 0 ? place(end) - first : first - place(end);
  // Steps beyond the size all mean: one entry. They are cut so that nothing overflows.
  const int64_t stride = std::min(step > 0 ? step : -std::max(step, -INT64_MAX), size + 1);
  window.start[d] = first;
  window.steps[d] = step > 0 ? stride : -stride;
  window.sizes[d] = distance > 0 ? (distance + stride - 1) / stride : 0;
}

SliceWindow slice_window(const Dims& sizes, const SliceLists& lists) {
  const size_t count = lists.starts.size();
  if (lists.ends.size() != count || (lists.axes && lists.axes->size() != count) ||
      (lists.steps && lists.steps->size() != count)) {
    throw BadNode("its starts, ends, axes and steps differ in length", "equal lengths");
  }
  const int64_t rank = sizes.size();
  Dims named(sizes.size(), 0);
  SliceWindow window = whole_window(sizes);
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = lists.axes ? (*lists.axes)[i] : static_cast<int64_t>(i);
    const int64_t step = lists.steps ? (*lists.steps)[i] : 1;
    if (axis < -rank || axis >= rank) {
      throw BadNode(cat("axis ", axis, " of a tensor of rank ", rank),
                    cat("an axis from ", -rank, " to ", rank - 1));
    }
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (step == 0 || named[d] != 0) {
      throw BadNode(cat("axis ", axis, " has a step of 0, or is named twice"),
                    "distinct axes and steps that are not 0");
    }
    named[d] = 1;
    narrow_window(window, d, lists.starts[i], lists.ends[i], step);
  }
  return window;
}

}  // namespace sheaf::onnx
