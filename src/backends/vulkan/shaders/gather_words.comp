#version 460
// SPDX-License-Identifier: MIT
//
// Rows moved by aligned words of 4, 8 or 16 bytes, for any strides. Several words per invocation are
// in flight at once.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

layout(constant_id = 0) const uint kWords = 4u;  // 1, 2 or 4
const uint kInFlight = 4u;

uvec4 load(uvec2 at) {
  return kWords == 4u   ? Quad(at).v
         : kWords == 2u ? uvec4(Pair(at).v, 0u, 0u)
                        : uvec4(load_word(at), 0u, 0u, 0u);
}

void store(uvec2 at, uvec4 value) {
  if (kWords == 4u) {
    Quad(at).v = value;
  } else if (kWords == 2u) {
    Pair(at).v = value.xy;
  } else {
    store_word(at, value.x);
  }
}

uvec4 fill_words(Call call, uvec2 at) {
  uvec4 value = uvec4(0u);
  for (uint w = 0u; w < kWords; ++w) {
    value[w] = fill_bytes(call, fill_phase(call, plus(at, 4u * w)), 4u);
  }
  return value;
}

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
      value[i] = load(from[i]);
    }
  }
  for (uint i = 0u; i < kInFlight; ++i) {
    if (moves[i]) {
      if (!inside[i]) {
        report_met(call, nest);
        value[i] = fill_words(call, column[i]);
      }
      store(to[i], value[i]);
    }
  }
}
