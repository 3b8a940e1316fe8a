#version 460
// SPDX-License-Identifier: MIT
//
// Adds 1 to the count, of 64 bits, of every place that a scatter's nest leads to.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column, at;
  const uvec2 point = row_of_piece(piece, column);
  if (target_of(nest, call.indices, point, locate(nest, point), at)) {
    const uvec2 count = plus(call.data, plus(at, times(column, 8u)));
    if (atomicAdd(Word(count).v, 1u) == 0xFFFFFFFFu) {
      atomicAdd(Word(plus(count, 4u)).v, 1u);
    }
  }
}
