// SPDX-License-Identifier: MIT
#include "backends/vulkan/bag/bag.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/dispatch.h"
#include "support/checked.h"

namespace sheaf::vulkan {
namespace {

// Tensors that repeat their elements (strides of 0) can ask for any number of these.
constexpr int64_t kMostRows = int64_t{1} << 42;

// Values that the shaders know by number.
static_assert(int(Pool::kMean) == 1 && int(Pool::kSqrtN) == 5 && kSegmentParts == 64);

ShaderPlaces shader_places(const EntryPlaces& from) {
  return {from.columns, from.outer, from.inner};
}

int64_t entries_in_order(const OpenDevice& device) {
  return device.short_loops ? std::min(tuning::most_in_order, tuning::kEntriesOfShortLoops)
                            : tuning::most_in_order;
}

// What rows are joined to: the reference starts sums from 0, not from -0.
void set_neutral(ShaderBag& bag, const BagNest& nest) {
  if (reduction_of(nest.pool) != Reduction::kAdd) {
    neutral_element(nest.computed, reduction_of(nest.pool),
                    reinterpret_cast<std::byte*>(bag.neutral));
  }
}

ShaderBag shader_bag(const BagNest& nest, const BagBuffers& buffers, const Launch& launch,
                     int64_t in_order) {
  const BagWorkspace workspace(nest);
  const auto part = [&](int64_t at) { return address_of(launch.workspace + at); };
  ShaderBag bag{};
  if (nest.per_bag < 0) {
    bag.segments = address_of(buffers.segments);
    bag.offsets = part(workspace.offsets);
    bag.faults = address_of(buffers.faults);
    bag.state = part(workspace.state);
  }
  bag.carried = part(workspace.carried);
  bag.weights = address_of(buffers.weights);
  bag.extent = nest.extent;
  bag.rows_per_entry = nest.rows_per_entry;
  bag.elements = nest.elements;
  bag.entries = nest.entries;
  bag.bags = nest.bags;
  bag.per_bag = nest.per_bag;
  bag.padding = nest.padding;
  bag.segment_count = nest.segments;
  bag.segment_stride = nest.segment_stride;
  bag.bag_stride = nest.bag_stride;
  bag.element_stride = nest.element_stride;
  bag.index_places = shader_places(nest.indices);
  bag.weight_places = shader_places(nest.weights);
  bag.indexed = nest.indexed ? 1 : 0;
  bag.segment_kind = kind_number(nest.segment_type);
  bag.weighted = nest.weighted ? 1 : 0;
  bag.weight_kind = kind_number(nest.weight_type);
  bag.pool = static_cast<uint32_t>(nest.pool);
  bag.reduction = static_cast<uint32_t>(reduction_of(nest.pool));
  bag.computed = kind_number(nest.computed);
  bag.output_kind = kind_number(nest.output_type);
  bag.in_order = static_cast<uint32_t>(in_order);
  set_neutral(bag, nest);
  std::memcpy(bag.fill, nest.fill, sizeof bag.fill);
  std::memcpy(bag.empty, nest.empty, sizeof bag.empty);
  return bag;
}

// The index rule, as the kernels of gathers take it.
ShaderNest rule_of(const BagNest& nest) {
  Nest rule;
  rule.index_type = nest.index_type;
  rule.negative = nest.negative;
  rule.out_of_range = nest.out_of_range;
  return shader_nest(rule);
}

ShaderCall bag_call(Recording& recording, const BagNest& nest, const BagBuffers& buffers,
                    const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.indices = address_of(buffers.indices);
  call.grid = address_of(buffers.output);
  call.nest = recording.put(rule_of(nest));
  call.table = recording.put(shader_table(nest.rows, buffers.data));
  call.bag = recording.put(shader_bag(nest, buffers, launch, entries_in_order(recording.device())));
  return call;
}

Shader pooling_shader(const OpenDevice& device, const BagNest& nest) {
  const Kind kind = nest.computed.kind();
  const bool native_f32 = tuning::native_floats && device.native_f32;
  const bool native_f64 = tuning::native_floats && device.native_f64;
  if (nest.rows.encoding != Encoding::kPlain) {
    return kind == Kind::kFloat32 && native_f32 ? Shader::bag_encoded_f32 : Shader::bag_encoded;
  }
  if (native_f32 && (kind == Kind::kFloat32 || kind == Kind::kComplex64)) {
    return Shader::bag_f32;
  }
  if (native_f64 && (kind == Kind::kFloat64 || kind == Kind::kComplex128)) {
    return Shader::bag_f64;
  }
  return kind < Kind::kFloat8E4M3 ? Shader::bag_integers : Shader::bag_floats;
}

// The verdict on the segments is read by finish().
void note_faults(const BagBuffers& buffers, const Launch& launch) {
  recorder_of(launch.stream).note_verdict(reinterpret_cast<const Verdict*>(buffers.faults));
}

}  // namespace

const char* bag_refusal(const BagNest& nest) {
  const int64_t rows = std::max(nest.entries, nest.bags);
  return saturating_mul(rows, std::max<int64_t>(nest.elements, 1)) <= kMostRows
             ? nullptr
             : "more elements of rows than a run can have";
}

size_t bag_bytes(const BagNest& nest) { return static_cast<size_t>(BagWorkspace(nest).bytes); }

BagEnd run_bag(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  if (nest.per_bag < 0) {
    note_faults(buffers, launch);
  }
  Recording recording(recorder_of(launch.stream));
  const Pipeline& pipeline =
      pipeline_of(recording.device(), pooling_shader(recording.device(), nest));
  ShaderCall call = bag_call(recording, nest, buffers, launch);
  const Address arguments = recording.put(call);
  if (nest.per_bag < 0) {
    dispatch_segments(recording, nest, arguments);
  }
  dispatch_pieces(recording, pipeline, arguments, {nest.bags, nest.elements});
  const int64_t in_order = entries_in_order(recording.device());
  if ((nest.per_bag < 0 ? nest.entries : nest.per_bag) > in_order) {
    call.flags |= kLongBags;
    const Address of_long_bags = recording.put(call);
    for (int64_t window = 0; window * in_order < nest.entries; ++window) {
      dispatch_pieces(recording, pipeline, of_long_bags,
                      {.rows = 2, .columns = nest.elements, .first_row = 2 * window});
    }
  }
  return BagEnd::kDone;
}

void check_segments(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  note_faults(buffers, launch);
  Recording recording(recorder_of(launch.stream));
  const ShaderCall call = bag_call(recording, nest, buffers, launch);
  dispatch_segments(recording, nest, recording.put(call));
}

}  // namespace sheaf::vulkan
