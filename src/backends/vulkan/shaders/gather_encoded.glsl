// SPDX-License-Identifier: MIT
//
// A gather of decoded elements: one invocation per element of the output. The nest counts elements
// of both tensors.
#include "decode.glsl"

uint decoded(Table table, uvec2 number) {
  uvec2 element;
  const uvec2 row = divided(number, table.elements, element);
  const Decoding decoding = decoding_of(table, row, element);
  uint value = decoding.value;
  for (uint step = 0u; step < 2u; ++step) {  // a loop: the code of an operation is there once
    const uint operation = step == 0u ? decoding.first : decoding.second;
    if (operation != kNone) {
      const uvec2 operand = uvec2(step == 0u ? decoding.a : decoding.b, 0u);
      value = reduced_float(format_of(kFloat32), operation, uvec2(value, 0u), operand).x;
    }
  }
  return value;
}

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const uvec2 point = row_of_piece(piece, column);
  const Place place = locate(nest, point);
  uvec2 at;
  uint bits;
  if (target_of(nest, call.indices, point, place, at)) {
    const uint value = decoded(Table(call.table), plus(at, column));
    bits = converted(kFloat32, call.to_kind, uvec2(value, 0u)).x;
  } else {
    report_met(call, rule_of(nest));
    bits = call.fill[0];
  }
  const uvec2 to = times(plus(place.grid, column), bytes_of_kind(call.to_kind));
  store_element(call.to_kind, plus(call.grid, to), uvec4(bits, 0u, 0u, 0u));
}
