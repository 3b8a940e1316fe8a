// SPDX-License-Identifier: MIT
#include "backends/vulkan/dispatch.h"

#include <algorithm>
#include <cstring>

#include "support/divisor.h"

namespace sheaf::vulkan {

ShaderNest shader_nest(const Nest& nest) {
  ShaderNest made;  // not zeroed: only what the counts name is read
  made.loop_count = static_cast<uint32_t>(nest.loops.size());
  made.coordinate_count = static_cast<uint32_t>(nest.coordinates.size());
  made.index_kind = static_cast<uint32_t>(nest.index_type.kind());
  made.negative = static_cast<uint32_t>(nest.negative);
  made.out_of_range = static_cast<uint32_t>(nest.out_of_range);
  for (int c = 0; c < nest.coordinates.size(); ++c) {
    const Coordinate& from = nest.coordinates[c];
    made.coordinates[c] = {from.extent, from.stride, from.offset, 0, 1};
  }
  int64_t points = 1;
  for (int l = 0; l < nest.loops.size(); ++l) {
    const Loop& from = nest.loops[nest.loops.size() - 1 - l];
    if (from.window != 0) {
      made.coordinates[from.window - 1].window_inner = points;
      made.coordinates[from.window - 1].window_extent = from.extent;
    }
    const bool divisible = from.extent > 0 && from.extent <= tuning::most_pieces;
    const Divisor divisor(divisible ? static_cast<uint32_t>(from.extent) : 1);
    made.loops[l] = {from.data,       from.index,    from.output,   from.extent,
                     divisor.divisor, divisor.magic, divisor.shift, 0};
    points *= from.extent;
  }
  made.narrow = points <= tuning::most_pieces ? 1 : 0;
  return made;
}

ShaderCall shader_call(const Launch& launch) {
  ShaderCall call{};
  call.verdict = address_of(launch.verdict);
  call.flags = launch.check_while_moving ? kChecksWhileMoving : 0;
  return call;
}

void set_fill(ShaderCall& call, const std::byte* element, int64_t bytes) {
  call.element_bytes = static_cast<uint32_t>(bytes);
  std::memcpy(call.fill, element, static_cast<size_t>(bytes));
}

void set_columns(Push& push, int64_t columns) {
  const Divisor divisor(static_cast<uint32_t>(columns));
  push.columns = divisor.divisor;
  push.magic = divisor.magic;
  push.shift = divisor.shift;
}

void dispatch_pieces(Recording& recording, const Pipeline& pipeline, Push push,
                     const Pieces& pieces) {
  const int64_t most = tuning::most_pieces;
  const int64_t columns = std::min(pieces.columns, most);
  const int64_t rows = std::max<int64_t>(most / columns, 1);
  for (int64_t row = 0; row < pieces.rows; row += rows) {
    for (int64_t column = 0; column < pieces.columns; column += columns) {
      const int64_t wide = std::min(columns, pieces.columns - column);
      const int64_t count = std::min(rows, pieces.rows - row) * wide;
      push.first_row = pieces.first_row + row;
      push.first_column = column;
      push.count = static_cast<uint32_t>(count);
      set_columns(push, wide);
      recording.dispatch(pipeline, push, groups_of(count, pieces.each));
    }
  }
}

}  // namespace sheaf::vulkan
