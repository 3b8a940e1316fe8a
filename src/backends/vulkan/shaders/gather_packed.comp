#version 460
// SPDX-License-Identifier: MIT
//
// Rows of any size and alignment that follow one another in the output: one invocation writes one
// aligned word of it, made of the ends of as many rows as reach into it. Pieces of the dispatch are
// words of the output, from the one around its first byte on.
#extension GL_GOOGLE_include_directive : require
#include "nest.glsl"

// The row and the column of a byte of the output.
uvec2 row_of_byte(Call call, uvec2 at, out uvec2 column) {
  if (push.columns != 0u) {  // fewer than 2^31 bytes
    const uint row = quotient_of(at.x, push.magic, push.shift);
    column = uvec2(at.x - row * push.columns, 0u);
    return uvec2(row, 0u);
  }
  return divided(at, call.row_bytes, column);
}

void main() {
  Call call = Call(push.call);
  Nest nest = Nest(call.nest);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  const uint head = call.grid.x & 3u;
  const uvec2 word = plus(push.first_row, piece);
  const bool starts = is_zero(word);
  // Bytes of the output before the word, and the bytes of the word that belong to it.
  uvec2 at = starts ? uvec2(0u) : minus(shifted_left(word, 2u), uvec2(head, 0u));
  uint byte = starts ? head : 0u;
  const uvec2 left = minus(call.self, at);  // self: bytes of the output
  const uint end = left.y != 0u || left.x >= 4u - byte ? 4u : byte + left.x;
  uint mask = 0u, value = 0u;
  uvec2 column;
  uvec2 point = row_of_byte(call, at, column);
  while (byte < end) {
    const uvec2 row_left = minus(call.row_bytes, column);
    const uint bytes = row_left.y != 0u ? end - byte : min(end - byte, row_left.x);
    const Place place = locate(nest, point);
    uvec2 from;
    uint part;
    if (target_of(nest, call.indices, point, place, from)) {
      part = load_bytes(plus(call.data, plus(from, column)), bytes);
    } else {
      report_met(call, rule_of(nest));
      part = fill_bytes(call, fill_phase(call, column), bytes);
    }
    value |= part << (8u * byte);
    mask |= (bytes == 4u ? 0xFFFFFFFFu : (1u << (8u * bytes)) - 1u) << (8u * byte);
    byte += bytes;
    point = plus(point, 1u);
    column = uvec2(0u);
  }
  const uvec2 to = plus(word_around(call.grid), shifted_left(word, 2u));
  if (mask == 0xFFFFFFFFu) {
    store_word(to, value);
  } else {
    store_part(to, mask, value);
  }
}
