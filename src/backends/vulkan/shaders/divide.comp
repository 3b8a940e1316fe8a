#version 460
// SPDX-License-Identifier: MIT
//
// Sums into means. The nest leads from counts (as data) to the sums they divide (as grid); pieces
// are elements.
#extension GL_GOOGLE_include_directive : require
#include "reduce.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const Place place = locate(nest, row_of_piece(piece, column));
  const uvec2 count = Pair(plus(call.data, place.data)).v;
  if (!is_zero(count)) {
    const uvec2 sum =
        plus(call.grid, plus(place.grid, times(column, bytes_of_kind(call.kind))));
    store_element(call.kind, sum, mean_of(call.kind, load_element(call.kind, sum), plus(count, call.self)));
  }
}
