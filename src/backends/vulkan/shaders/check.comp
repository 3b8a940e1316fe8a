#version 460
// SPDX-License-Identifier: MIT
//
// Counts the indices of a dispatch that are out of range, and keeps the number of the first.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

const uint kInFlight = 4u;

uvec2 extent_of(Call call, Nest nest, uvec2 element) {
  if (call.components.x == 1u) {
    return nest.coordinate[0].extent;
  }
  uvec2 component, unused;
  divided(divided(element, call.inner, unused), call.components, component);
  return nest.coordinate[component.x].extent;
}

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  if ((call.flags & kOnlyIfMet) != 0u && load_word(plus(call.verdict, kMet)) == 0u) {
    return;
  }
  const uint first = group_number() * kGroup * kInFlight + gl_LocalInvocationID.x;
  uint bad = 0u, not_first = 0u;
  for (uint i = 0u; i < kInFlight; ++i) {
    const uint piece = first + i * kGroup;
    if (piece < push.count) {
      const uvec2 element = plus(push.first_row, piece);
      const uvec2 raw = load_raw(nest.index_kind, call.indices, locate(nest, element).index);
      uvec2 entry;
      if (!entry_of(rule_of(nest), raw, extent_of(call, nest, element), entry)) {
        ++bad;
        not_first = max(not_first, ~piece);
      }
    }
  }
  if (bad != 0u) {
    const uint before = atomicAdd(Word(plus(call.verdict, kBad)).v, bad);
    if (before + bad < before) {
      atomicAdd(Word(plus(call.verdict, kBad + 4u)).v, 1u);
    }
    atomicMax(Word(plus(call.verdict, kFound)).v, not_first);
  }
}
