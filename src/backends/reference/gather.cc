// SPDX-License-Identifier: MIT
//
// The oracle: the loop nest of sheaf/plan.h, as plainly as it can be written. Every other backend
// is held against it bit for bit.
#include <cstring>

#include "backends/reference/backend.h"
#include "plan/resolve.h"

namespace sheaf::reference {
namespace {

// One walk through the nest: where the loops outside `loop` have brought the three tensors.
template <class Index>
struct GatherWalk {
  const Nest& nest;
  const GatherBuffers& buffers;
  CancelPoint& cancel;

  void loops(int loop, int64_t data, int64_t index, int64_t output) const {
    if (loop == nest.loops.size()) {
      move_row(data, index, output);
      return;
    }
    const Loop& l = nest.loops[loop];
    for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, nest.row_bytes); ++p) {
      loops(loop + 1, data + p * l.data, index + p * l.index, output + p * l.output);
    }
  }

  void move_row(int64_t data, int64_t index, int64_t output) const {
    for (const Coordinate& c : nest.coordinates) {
      const auto value = load_index<Index>(buffers.indices, index + c.offset);
      const int64_t at = resolve(value, c.extent, nest.negative, nest.out_of_range);
      if (at == kOutside) {
        fill_row(output);
        return;
      }
      data += at * c.stride;
    }
    std::memcpy(buffers.output + output, buffers.data + data, static_cast<size_t>(nest.row_bytes));
  }

  void fill_row(int64_t output) const {
    for (int64_t at = 0; at < nest.row_bytes; at += nest.element_bytes) {
      std::memcpy(buffers.output + output + at, nest.fill_value,
                  static_cast<size_t>(nest.element_bytes));
    }
  }

  bool all_in_range(int loop, int64_t index) const {
    if (loop < nest.index_loops.size()) {
      const IndexLoop& l = nest.index_loops[loop];
      for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, 0); ++p) {
        if (!all_in_range(loop + 1, index + p * l.stride)) {
          return false;
        }
      }
      return true;
    }
    for (const Coordinate& c : nest.coordinates) {
      const auto value = load_index<Index>(buffers.indices, index + c.offset);
      if (in_range_or_outside(value, c.extent, nest.negative) == kOutside) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace

bool gather(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  with_index_type(nest.index_type, [&](auto zero) {
    GatherWalk<decltype(zero)>{nest, buffers, cancel}.loops(0, 0, 0, 0);
  });
  return true;
}

bool all_in_range(const Plan& plan, const std::byte* indices, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  const Nest& nest = plan.nest();
  const GatherBuffers buffers{nullptr, indices, nullptr};
  return with_index_type(nest.index_type, [&](auto zero) {
    return GatherWalk<decltype(zero)>{nest, buffers, cancel}.all_in_range(0, 0);
  });
}

}  // namespace sheaf::reference
