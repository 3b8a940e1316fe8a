// SPDX-License-Identifier: MIT
#include <algorithm>

#include "backends/vulkan/gather/gather.h"
#include "backends/vulkan/scatter/scatter.h"
#include "support/checked.h"

namespace sheaf::vulkan {
namespace {

constexpr int64_t kMostTuples = int64_t{1} << 31;

size_t words(int64_t count) { return static_cast<size_t>(count) * sizeof(uint32_t); }

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

const char* tuples_refusal(const ScatterNest& scatter) {
  return scatter.tuple_count < kMostTuples ? nullptr : "more than 2^31 index tuples in one run";
}

Nest key_nest(const ScatterNest& scatter) {
  Nest keys = scatter.tuples;
  for (Loop& loop : keys.loops) {
    loop.data /= scatter.unit;
  }
  for (Coordinate& coordinate : keys.coordinates) {
    coordinate.stride /= scatter.unit;
  }
  return keys;
}

ShaderCall scatter_call(const ScatterNest& scatter, const ScatterBuffers& buffers,
                        const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(buffers.data);
  call.indices = address_of(buffers.indices);
  call.grid = address_of(buffers.updates);
  call.unit = scatter.unit;
  call.key_count = scatter.key_count;
  call.tuples = static_cast<uint32_t>(scatter.tuple_count);
  call.row_bytes = scatter.slices.row_bytes;
  return call;
}

void dispatch_assign(Recording& recording, const ScatterNest& scatter, const ShaderCall& call) {
  // Cells stand at multiples of `unit`, which divides the strides of the tuples.
  const uint64_t addresses = call.data | call.grid | static_cast<uint64_t>(scatter.lowest);
  const int64_t bytes =
      std::min(unit_bytes(scatter.tuples, addresses), unit_bytes(scatter.slices, addresses));
  dispatch_pieces(recording, pipeline_of(recording.device(), Shader::assign, bytes),
                  recording.put(call),
                  {scatter.tuple_count, scatter.slice_count * (scatter.slices.row_bytes / bytes)});
}

const char* marked_refusal(const KernelQuery& query) {
  if (query.nest.reduction != Reduction::kNone) {
    return "the updates are reduced";
  }
  if (query.nest.empty()) {
    return nullptr;
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (scatter.wide()) {
    return "more cells than 32 bits can number";
  }
  const int64_t marked = std::max(
      tuning::kFewCells, saturating_mul(scatter.tuple_count, tuning::kMarkedCellsPerUpdate));
  return scatter.key_count <= marked ? tuples_refusal(scatter)
                                     : "far more cells than updates; sorting takes less memory";
}

// Keys, then marks.
size_t marked_bytes(const Nest& nest, int /*threads*/) {
  const ScatterNest scatter = scatter_nest(nest);
  return rounded(words(scatter.tuple_count)) + words(scatter.key_count);
}

bool run_marked(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const ScatterNest scatter = scatter_nest(nest);
  std::byte* const marks = launch.workspace + rounded(words(scatter.tuple_count));
  zero(marks, words(scatter.key_count), launch.stream);
  ShaderCall call = scatter_call(scatter, buffers, launch);
  call.keys = address_of(launch.workspace);
  call.sorted = address_of(marks);
  call.flags |= kMarked;
  Recording recording(recorder_of(launch.stream));
  call.nest = recording.put(shader_nest(key_nest(scatter)));
  call.slices = recording.put(shader_nest(scatter.slices));
  call.lowest = scatter.lowest / scatter.unit;
  dispatch_pieces(recording, pipeline_of(recording.device(), Shader::keys), recording.put(call),
                  {scatter.tuple_count, 1});
  call.lowest = scatter.lowest;
  dispatch_assign(recording, scatter, call);
  return true;
}

}  // namespace sheaf::vulkan
