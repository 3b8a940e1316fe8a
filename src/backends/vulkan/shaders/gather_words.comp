#version 460
// SPDX-License-Identifier: MIT
//
// Rows moved by aligned words of 4, 8 or 16 bytes, for any strides. Several words per invocation are
// in flight at once.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

layout(constant_id = 0) const uint kWords = 4u;  // 1, 2 or 4
const uint kInFlight = 4u;
#include "words.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  if (refused(call)) {
    return;
  }
  uvec2 from[kInFlight], to[kInFlight];
  bool inside[kInFlight], moves[kInFlight];
  uvec2 column[kInFlight];
  const uint first = group_number() * kGroup * kInFlight + gl_LocalInvocationID.x;
  for (uint i = 0u; i < kInFlight; ++i) {
    const uint piece = first + i * kGroup;
    moves[i] = piece < push.count;
    if (moves[i]) {
      const uvec2 point = row_of_piece(piece, column[i]);
      column[i] = times(column[i], 4u * kWords);
      const Place place = locate(nest, point);
      to[i] = plus(call.grid, plus(place.grid, column[i]));
      uvec2 at;
      inside[i] = (call.flags & kFillAll) == 0u && target_of(nest, call.indices, point, place, at);
      from[i] = plus(call.data, plus(at, column[i]));
    }
  }
  uvec4 value[kInFlight];
  for (uint i = 0u; i < kInFlight; ++i) {
    if (moves[i] && inside[i]) {
      value[i] = load_words(from[i]);
    }
  }
  for (uint i = 0u; i < kInFlight; ++i) {
    if (moves[i]) {
      if (!inside[i]) {
        report_met(call, rule_of(nest));
        value[i] = fill_words(call, column[i]);
      }
      store_words(to[i], value[i]);
    }
  }
}
