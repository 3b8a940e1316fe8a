// SPDX-License-Identifier: MIT
//
// The steps around the updates of a scatter: the neutral element where an update will go, the
// counts and the division of a mean, and conversions of narrow floats.
#include "backends/vulkan/dispatch.h"
#include "backends/vulkan/steps/steps.h"
#include "plan/nest_shape.h"

namespace sheaf::vulkan {
namespace {

void dispatch_step(const Nest& nest, ShaderCall call, Shader shader, int64_t piece_bytes,
                   const Launch& launch) {
  Recording recording(recorder_of(launch.stream));
  call.nest = recording.put(shader_nest(nest));
  dispatch_pieces(recording, pipeline_of(recording.device(), shader), recording.put(call),
                  {point_count(nest), nest.row_bytes / piece_bytes});
}

uint32_t kind_of(DType type) { return static_cast<uint32_t>(type.kind()); }

}  // namespace

void fill(const Backend& /*self*/, const Nest& nest, const std::byte* element,
          const ScatterBuffers& buffers, const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(buffers.data);
  call.indices = address_of(buffers.indices);
  set_fill(call, element, nest.element_bytes);
  dispatch_step(nest, call, Shader::fill, nest.element_bytes, launch);
}

void count(const Backend& /*self*/, const Nest& nest, const ScatterBuffers& buffers,
           const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(buffers.data);
  call.indices = address_of(buffers.indices);
  dispatch_step(nest, call, Shader::count, sizeof(int64_t), launch);
}

void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(counts);
  call.grid = address_of(sums);
  call.self = self;
  call.kind = kind_of(type);
  dispatch_step(nest, call, Shader::divide, type.bytes(), launch);
}

void convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
             const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(data);
  call.grid = address_of(output);
  call.kind = kind_of(from);
  call.to_kind = kind_of(to);
  dispatch_step(nest, call, Shader::convert, nest.row_bytes, launch);
}

}  // namespace sheaf::vulkan
