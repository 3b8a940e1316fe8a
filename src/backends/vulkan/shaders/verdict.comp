#version 460
// SPDX-License-Identifier: MIT
//
// After each dispatch of the check: the first bad index with its value, and in the end their number,
// repeated ones as often as they repeat.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const bool skips = (call.flags & kOnlyIfMet) != 0u && load_word(plus(call.verdict, kMet)) == 0u;
  if (gl_LocalInvocationID.x != 0u || skips) {
    return;
  }
  const uint found = load_word(plus(call.verdict, kFound));
  const uvec2 not_first = plus(call.verdict, kNotFirst);
  if (found != 0u && is_zero(Pair(not_first).v)) {
    const Place place = locate(nest, plus(push.first_row, ~found));
    Pair(plus(call.verdict, kValue)).v = load_raw(nest.index_kind, call.indices, place.index);
    Pair(not_first).v = uvec2(~place.grid.x, ~place.grid.y);
  }
  store_word(plus(call.verdict, kFound), 0u);
  if (push.last != 0u) {
    Pair(call.verdict).v = times(Pair(call.verdict).v, call.repeats);
  }
}
