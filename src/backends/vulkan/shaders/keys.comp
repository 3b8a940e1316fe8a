#version 460
// SPDX-License-Identifier: MIT
//
// The key of every tuple of indices: the number of the cell it leads to, or the one behind the last
// if it is skipped. Strides of the nest are in cells. With marks, the last tuple of each cell leaves
// its number there, plus 1.
#extension GL_GOOGLE_include_directive : require
#include "scatter.glsl"

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const uint tuple = row_of_piece(piece, column).x;
  const uvec2 point = uvec2(tuple, 0u);
  uvec2 key;
  if (target_of(nest, call.indices, point, locate(nest, point), key)) {
    key = minus(key, call.lowest);
    if ((call.flags & kMarked) != 0u) {
      atomicMax(Word(number_address(call.sorted, key.x)).v, tuple + 1u);
    }
  } else {
    report_met(call, rule_of(nest));
    key = call.key_count;
  }
  store_word(number_address(call.keys, tuple), key.x);
  if (!is_zero(call.high_keys)) {
    store_word(number_address(call.high_keys, tuple), key.y);
  }
  if ((call.flags & kMarked) == 0u) {
    store_word(number_address(call.numbers, tuple), tuple);
  }
}
