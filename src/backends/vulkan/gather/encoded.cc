// SPDX-License-Identifier: MIT
//
// vulkan.encoded: gathers of encoded tables, one invocation per element of the output. Neighbours
// read neighbouring codes and the same scale.
#include "backends/vulkan/dispatch.h"
#include "backends/vulkan/gather/gather.h"
#include "backends/vulkan/table.h"
#include "plan/nest_shape.h"
#include "support/checked.h"

namespace sheaf::vulkan {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 42;

}  // namespace

const char* encoded_refusal(const EncodedNest& nest) {
  return saturating_mul(point_count(nest.nest), nest.nest.row_bytes) <= kMostElements
             ? nullptr
             : "more elements than a run can have";
}

bool run_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch) {
  Recording recording(recorder_of(launch.stream));
  const bool native = tuning::native_floats && recording.device().native_f32;
  const Pipeline& pipeline =
      pipeline_of(recording.device(), native ? Shader::gather_encoded_f32 : Shader::gather_encoded);
  ShaderCall call = shader_call(launch);
  call.indices = address_of(buffers.indices);
  call.grid = address_of(buffers.output);
  call.to_kind = kind_number(nest.type);
  set_fill(call, nest.fill_value, nest.type.bytes());
  call.nest = recording.put(shader_nest(nest.nest));
  call.table = recording.put(shader_table(nest.rows, buffers.data));
  dispatch_pieces(recording, pipeline, recording.put(call),
                  {point_count(nest.nest), nest.nest.row_bytes});
  return true;
}

}  // namespace sheaf::vulkan
