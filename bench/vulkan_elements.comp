#version 460
// SPDX-License-Identifier: MIT
//
// Rows as most compute shaders gather them: one invocation per element of 4 bytes, which reads the
// index of its row and checks nothing. What bench/vulkan_bench.cc compares the backend with.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 128) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Indices { uvec2 v[]; };
layout(push_constant) uniform Push {
  uvec2 data, indices, grid;
  uint count, columns;
} push;

void main() {
  const uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 128u +
                 gl_LocalInvocationID.x;
  if (i >= push.count) {
    return;
  }
  const uint row = Indices(push.indices).v[i / push.columns].x;
  Words(push.grid).v[i] = Words(push.data).v[row * push.columns + i % push.columns];
}
