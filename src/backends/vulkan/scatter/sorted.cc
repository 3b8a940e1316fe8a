// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "backends/vulkan/device.h"
#include "backends/vulkan/gather/gather.h"
#include "backends/vulkan/scatter/scatter.h"

namespace sheaf::vulkan {
namespace {

// The workspace: keys in one or two arrays of words, numbers of tuples twice, the histogram.
struct Layout {
  int64_t array_bytes, blocks;
  bool wide;

  explicit Layout(const ScatterNest& scatter)
      : array_bytes((scatter.tuple_count * int64_t{sizeof(uint32_t)} + 255) / 256 * 256),
        blocks((scatter.tuple_count - 1) / tuning::kSortBlock + 1),
        wide(scatter.wide()) {}

  int64_t arrays() const { return wide ? 4 : 3; }
  int64_t bytes() const {
    return arrays() * array_bytes + (blocks << tuning::kDigitBits) * int64_t{sizeof(uint32_t)};
  }
};

void sort(Recording& recording, const ScatterNest& scatter, const Layout& layout,
          ShaderCall& call) {
  Push push{};
  push.count = static_cast<uint32_t>(layout.blocks);
  for (int bit = 0; bit < scatter.key_bits(); bit += tuning::kDigitBits) {
    push.call = recording.put(call);
    push.shift = static_cast<uint32_t>(bit);
    recording.dispatch(pipeline_of(recording.device(), Shader::sort_count), push, layout.blocks);
    recording.dispatch(pipeline_of(recording.device(), Shader::sort_scan), push, 1);
    recording.dispatch(pipeline_of(recording.device(), Shader::sort_place), push, layout.blocks);
    std::swap(call.numbers, call.sorted);
  }
}

// The integers take a round of loops for each of four elements.
int64_t updates_in_order(const OpenDevice& device, bool quads) {
  const int64_t of_short_loops = tuning::kInOrderOfShortLoops / (quads ? 4 : 1);
  return device.short_loops ? std::min(tuning::most_in_order, of_short_loops)
                            : tuning::most_in_order;
}

Shader reducing_shader(const OpenDevice& device, Kind kind) {
  const bool single = kind == Kind::kFloat32 || kind == Kind::kComplex64;
  const bool wide = kind == Kind::kFloat64 || kind == Kind::kComplex128;
  if (tuning::native_floats && single && device.native_f32) {
    return Shader::reduce_f32;
  }
  if (tuning::native_floats && wide && device.native_f64) {
    return Shader::reduce_f64;
  }
  return kind < Kind::kFloat8E4M3 ? Shader::reduce_integers : Shader::reduce_floats;
}

// Sums of f32 in rows that are read by 16 bytes are made four at a time.
bool by_quads(Shader shader, const Nest& nest, const ScatterNest& scatter, const ShaderCall& call) {
  constexpr int64_t kQuad = 16;
  return shader == Shader::reduce_f32 && nest.element_type == f32 &&
         nest.reduction != Reduction::kMin && nest.reduction != Reduction::kMax &&
         scatter.slices.row_bytes % kQuad == 0 && scatter.lowest % kQuad == 0 &&
         unit_bytes(nest, call.data | call.grid) == kQuad;
}

void reduce(Recording& recording, const Nest& nest, const ScatterNest& scatter, ShaderCall call) {
  const Kind kind = nest.element_type.kind();
  const Shader shader = reducing_shader(recording.device(), kind);
  const bool quads = by_quads(shader, nest, scatter, call);
  call.kind = static_cast<uint32_t>(kind);
  call.reduction = static_cast<uint32_t>(nest.reduction);
  const int64_t pieces = scatter.slices.row_bytes / (quads ? 16 : nest.element_bytes);
  const int64_t in_order = updates_in_order(recording.device(), quads);
  call.in_order = static_cast<uint32_t>(in_order);
  const Address arguments = recording.put(call);
  const Pipeline& pipeline = pipeline_of(recording.device(), shader, quads ? 1 : 0);
  for (int64_t first = 0; first < scatter.tuple_count; first += in_order) {
    dispatch_pieces(recording, pipeline, arguments,
                    {.rows = std::min(in_order, scatter.tuple_count - first),
                     .columns = scatter.slice_count * pieces,
                     .first_row = first});
  }
}

}  // namespace

const char* sorted_refusal(const KernelQuery& query) {
  if (query.nest.empty()) {
    return nullptr;
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (const char* const refusal = tuples_refusal(scatter)) {
    return refusal;
  }
  return scatter.tuple_count > tuning::kTuplesOfShortLoops && device_of(query.stream).short_loops
             ? "more than 2^27 index tuples, and this device cuts long loops short"
             : nullptr;
}

size_t sorted_bytes(const Nest& nest, int /*threads*/) {
  return static_cast<size_t>(Layout(scatter_nest(nest)).bytes());
}

bool run_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const ScatterNest scatter = scatter_nest(nest);
  const Layout layout(scatter);
  ShaderCall call = scatter_call(scatter, buffers, launch);
  const Address workspace = address_of(launch.workspace);
  const auto array = [&](int64_t number) {
    return workspace + static_cast<Address>(number * layout.array_bytes);
  };
  call.keys = array(0);
  call.numbers = array(1);
  call.sorted = array(2);
  call.high_keys = layout.wide ? array(3) : 0;
  call.histogram = array(layout.arrays());
  Recording recording(recorder_of(launch.stream));
  call.nest = recording.put(shader_nest(key_nest(scatter)));
  call.slices = recording.put(shader_nest(scatter.slices));
  call.lowest = scatter.lowest / scatter.unit;
  dispatch_pieces(recording, pipeline_of(recording.device(), Shader::keys), recording.put(call),
                  {scatter.tuple_count, 1});
  call.lowest = scatter.lowest;
  sort(recording, scatter, layout, call);
  if (nest.reduction == Reduction::kNone) {
    dispatch_assign(recording, scatter, call);
  } else {
    reduce(recording, nest, scatter, call);
  }
  return true;
}

}  // namespace sheaf::vulkan
