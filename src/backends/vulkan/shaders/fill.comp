#version 460
// SPDX-License-Identifier: MIT
//
// Writes one element to every place that a scatter's nest leads to. Pieces are elements.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const uvec2 point = row_of_piece(piece, column);
  uvec2 at;
  if (!target_of(nest, call.indices, point, locate(nest, point), at)) {
    return;
  }
  const uvec2 to = plus(call.data, plus(at, times(column, call.element_bytes)));
  if (call.element_bytes < 4u) {
    store_unit(to, call.element_bytes, call.fill[0]);
  }
  for (uint w = 0u; w < call.element_bytes / 4u; ++w) {
    store_word(plus(to, 4u * w), call.fill[w]);
  }
}
