// SPDX-License-Identifier: MIT
#include <cstdint>
#include <limits>

#include "backends/vulkan/dispatch.h"
#include "backends/vulkan/gather/gather.h"
#include "plan/nest_shape.h"
#include "support/divisor.h"

namespace sheaf::vulkan {
namespace {

constexpr int kMostLoops = 2;
constexpr int64_t kWordBytes = 4;

bool fits_int32(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

// Indices that are parts of words are read by the other kernels.
bool whole_word_index(DType type) { return type.bytes() >= kWordBytes; }

ShaderLine line_of(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  const Coordinate& coordinate = nest.coordinates[0];
  ShaderLine line{};
  line.data = address_of(buffers.data);
  line.indices = address_of(buffers.indices) +
                 static_cast<Address>(coordinate.offset * nest.index_type.bytes());
  line.grid = address_of(buffers.output);
  line.extent = coordinate.extent;
  line.stride = coordinate.stride;
  Divisor divisor;  // 1: a single loop is the outer one
  const int loops = nest.loops.size();
  if (loops > 0) {
    line.outer_data = nest.loops[0].data;
    line.outer_index = static_cast<int32_t>(nest.loops[0].index);
  }
  if (loops == kMostLoops) {
    line.inner_data = nest.loops[1].data;
    line.inner_index = static_cast<int32_t>(nest.loops[1].index);
    divisor = Divisor(static_cast<uint32_t>(nest.loops[1].extent));
  }
  line.divisor = divisor.divisor;
  line.magic = divisor.magic;
  line.rule = divisor.shift | static_cast<uint32_t>(nest.index_type.kind()) << 8 |
              static_cast<uint32_t>(nest.negative) << 16 |
              static_cast<uint32_t>(nest.out_of_range) << 20;
  line.rule |= launch.verdict != nullptr && !launch.check_while_moving ? kLineChecked : 0;
  return line;
}

}  // namespace

const char* lines_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.coordinates.size() != 1 || !whole_word_index(nest.index_type)) {
    return "more than one index per row, or indices of less than 4 bytes";
  }
  if (nest.loops.size() > kMostLoops) {
    return "more than two loops";
  }
  for (const Loop& loop : nest.loops) {
    if (loop.window != 0 || !fits_int32(loop.index)) {
      return "windows, or indices far apart";
    }
  }
  if (point_count(nest) > tuning::most_pieces || nest.row_bytes > tuning::most_pieces) {
    return "rows that 31 bits cannot number";
  }
  return rows_refusal(query);
}

bool run_lines(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  const int64_t bytes = unit_bytes(nest, address_of(buffers.data) | address_of(buffers.output));
  Recording recording(recorder_of(launch.stream));
  const Pipeline& pipeline =
      pipeline_of(recording.device(), Shader::gather_lines, bytes / kWordBytes);
  Push push{};
  ShaderCall call = gather_call(nest, buffers, launch);
  push.call = recording.put(call);
  push.line = line_of(nest, buffers, launch);
  dispatch_pieces(recording, pipeline, push,
                  {point_count(nest), nest.row_bytes / bytes, tuning::kLinesInFlight});
  return true;
}

}  // namespace sheaf::vulkan
