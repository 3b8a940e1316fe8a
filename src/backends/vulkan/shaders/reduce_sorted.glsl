// SPDX-License-Identifier: MIT
//
// Included with REDUCED as the function of two elements. Reduces the sorted updates of each cell in
// order: one invocation per element of a cell, which goes no further than the `in_order` updates of
// its dispatch; the next dispatch goes on from there. Invocations that stand on no first update of a
// cell have nothing to do.
void main() {
  Call call = Call(push.call);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  uint at = row_of_piece(piece, column).x;
  uint tuple = load_number(call.numbers, at);
  const uvec2 key = key_of(call, tuple);
  if (key == call.key_count ||
      (at % call.in_order != 0u && key_of(call, load_number(call.numbers, at - 1u)) == key)) {
    return;
  }
  const CellPiece piece_at = piece_of_cell(call, column, bytes_of_kind(call.kind));
  const uvec2 cell = plus(cell_address(call, key), piece_at.data);
  const uint end = min(call.tuples, (at / call.in_order + 1u) * call.in_order);
  uvec4 value = load_element(call.kind, cell);
  for (;;) {
    const uvec2 from = plus(updates_address(call, tuple), piece_at.grid);
    value = REDUCED(call.kind, call.reduction, value, load_element(call.kind, from));
    if (++at == end) {
      break;
    }
    tuple = load_number(call.numbers, at);
    if (key_of(call, tuple) != key) {
      break;
    }
  }
  store_element(call.kind, cell, value);
}
