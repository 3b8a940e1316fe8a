// SPDX-License-Identifier: MIT
//
// The oracle of scatters: the loop nest of sheaf/plan.h in the order of its points, which is the
// order of the updates.
#include <cstring>

#include "backends/reference/backend.h"
#include "plan/reduce.h"
#include "plan/resolve.h"

namespace sheaf::reference {
namespace {

template <class Index>
struct ScatterWalk {
  const Nest& nest;
  const ScatterBuffers& buffers;
  ReduceRow reduce;
  // How far each coordinate's window has come: what its loop adds to the index.
  Fixed<int64_t>& windows;
  CancelPoint& cancel;

  void loops(int loop, int64_t data, int64_t index, int64_t updates) const {
    if (loop == nest.loops.size()) {
      join_row(data, index, updates);
      return;
    }
    const Loop& l = nest.loops[loop];
    for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, nest.row_bytes); ++p) {
      if (l.window != 0) {
        windows[static_cast<int>(l.window) - 1] = p;
      }
      loops(loop + 1, data + p * l.data, index + p * l.index, updates + p * l.output);
    }
  }

  void join_row(int64_t data, int64_t index, int64_t updates) const {
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const int64_t at = entry(c, index);
      if (at == kOutside) {
        return;  // kSkip
      }
      data += at * nest.coordinates[c].stride;
    }
    reduce(buffers.data + data, buffers.updates + updates, nest.row_bytes);
  }

  int64_t entry(int c, int64_t index) const {
    const Coordinate& coordinate = nest.coordinates[c];
    const auto value = load_index<Index>(buffers.indices, index + coordinate.offset);
    if (windows[c] != 0) {
      return in_range_or_outside(value, windows[c], coordinate.extent, nest.negative);
    }
    return resolve(value, coordinate.extent, nest.negative, nest.out_of_range);
  }
};

void copy_loops(const Nest& nest, CancelPoint& cancel, int loop, const std::byte* data,
                std::byte* output) {
  if (loop == nest.loops.size()) {
    const auto bytes = static_cast<size_t>(nest.row_bytes);
    data == nullptr ? std::memset(output, 0, bytes) : std::memcpy(output, data, bytes);
    return;
  }
  const Loop& l = nest.loops[loop];
  for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, nest.row_bytes); ++p) {
    copy_loops(nest, cancel, loop + 1, data == nullptr ? nullptr : data + p * l.data,
               output + p * l.output);
  }
}

}  // namespace

bool scatter(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  Fixed<int64_t> windows(nest.coordinates.size(), 0);
  const ReduceRow reduce = reduce_row(nest.element_type, nest.reduction);
  with_index_type(nest.index_type, [&](auto zero) {
    ScatterWalk<decltype(zero)>{nest, buffers, reduce, windows, cancel}.loops(0, 0, 0, 0);
  });
  return true;
}

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  copy_loops(nest, cancel, 0, data, output);
}

}  // namespace sheaf::reference
