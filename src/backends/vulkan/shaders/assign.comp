#version 460
// SPDX-License-Identifier: MIT
//
// A scatter without reduction: the last tuple of each cell writes. It is the one whose number the
// cell is marked with, or the last of its list in a sorted order.
#extension GL_GOOGLE_include_directive : require
#include "scatter.glsl"

layout(constant_id = 0) const uint kBytes = 4u;  // that one invocation moves: 1, 2, 4, 8 or 16

void move(uvec2 to, uvec2 from) {
  if (kBytes == 16u) {
    Quad(to).v = Quad(from).v;
  } else if (kBytes == 8u) {
    Pair(to).v = Pair(from).v;
  } else if (kBytes == 4u) {
    store_word(to, load_word(from));
  } else {
    store_unit(to, kBytes, load_bytes(from, kBytes));
  }
}

bool wins(Call call, uint at, uint tuple, uvec2 key) {
  if (key == call.key_count) {
    return false;
  }
  if ((call.flags & kMarked) != 0u) {
    return load_number(call.sorted, key.x) == tuple + 1u;
  }
  return at + 1u == call.tuples || key_of(call, load_number(call.numbers, at + 1u)) != key;
}

void main() {
  Call call = Call(push.call);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  const uint at = row_of_piece(piece, column).x;
  const uint tuple = (call.flags & kMarked) != 0u ? at : load_number(call.numbers, at);
  const uvec2 key = key_of(call, tuple);
  if (wins(call, at, tuple, key)) {
    const CellPiece cell = piece_of_cell(call, column, kBytes);
    move(plus(cell_address(call, key), cell.data),
         plus(updates_address(call, tuple), cell.grid));
  }
}
