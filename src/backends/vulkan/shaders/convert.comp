#version 460
// SPDX-License-Identifier: MIT
//
// From one float type to another: one element per point.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

void main() {
  Call call = Call(push.call);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const Place place = locate(Nest(call.nest), row_of_piece(piece, column));
  const uvec2 bits = load_element(call.kind, plus(call.data, place.data)).xy;
  const Number number = unpacked(format_of(call.kind), bits);
  store_element(call.to_kind, plus(call.grid, place.grid),
                uvec4(packed(format_of(call.to_kind), number), 0u, 0u));
}
