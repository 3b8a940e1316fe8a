#version 460
// SPDX-License-Identifier: MIT
//
// Rows moved by bytes or halves, for any strides.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

layout(constant_id = 0) const uint kBytes = 1u;  // 1 or 2

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const uvec2 point = row_of_piece(piece, column);
  column = times(column, kBytes);
  const Place place = locate(nest, point);
  uvec2 at;
  uint value;
  if ((call.flags & kFillAll) == 0u && target_of(nest, call.indices, point, place, at)) {
    value = load_bytes(plus(call.data, plus(at, column)), kBytes);
  } else {
    report_met(call, rule_of(nest));
    value = fill_bytes(call, fill_phase(call, column), kBytes);
  }
  store_unit(plus(call.grid, plus(place.grid, column)), kBytes, value);
}
