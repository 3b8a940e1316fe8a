// SPDX-License-Identifier: MIT
//
// Included with REDUCED as the function of two elements. Reduces the sorted updates of each cell in
// order: one invocation per element of a cell, or per four of them (QUADS), which goes no further
// than the `in_order` updates of its dispatch; the next dispatch goes on from there. Invocations that
// stand on no first update of a cell have nothing to do.
//
// Updates of a cell are joined one after the other, but loaded several at a time: what a long list
// takes is the way to memory, not the sums.
const uint kAhead = 4u;

#ifdef QUADS
layout(constant_id = 0) const uint kQuads = 0u;  // 1: four elements of 4 bytes
#else
const uint kQuads = 0u;
#endif

uvec4 load_value(Call call, uvec2 at) {
  return kQuads != 0u ? Quad(at).v : load_element(call.kind, at);
}

void store_value(Call call, uvec2 at, uvec4 value) {
  if (kQuads != 0u) {
    Quad(at).v = value;
  } else {
    store_element(call.kind, at, value);
  }
}

#ifdef QUADS
// False if the integers have to say something about one of the four.
bool quick_quad(uint reduction, uvec4 cell, uvec4 update, out uvec4 result) {
  bool quick = true;
  [[unroll]] for (int c = 0; c < 4; ++c) {
    uvec2 element;
    quick = native_reduced(reduction, uvec2(cell[c], 0u), uvec2(update[c], 0u), element) && quick;
    result[c] = element.x;
  }
  return quick;
}
#endif

uvec4 joined(Call call, uvec4 value, uvec4 update) {
  if (kQuads == 0u) {
    return REDUCED(call.kind, call.reduction, value, update);
  }
  for (int c = 0; c < 4; ++c) {
    value[c] = REDUCED(call.kind, call.reduction, uvec4(value[c], 0u, 0u, 0u),
                       uvec4(update[c], 0u, 0u, 0u)).x;
  }
  return value;
}

void main() {
  Call call = Call(push.call);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call)) {
    return;
  }
  uvec2 column;
  uint at = row_of_piece(piece, column).x;
  const uvec2 key = key_of(call, load_number(call.numbers, at));
  if (key == call.key_count ||
      (at % call.in_order != 0u && key_of(call, load_number(call.numbers, at - 1u)) == key)) {
    return;
  }
  const CellPiece piece_at =
      piece_of_cell(call, column, kQuads != 0u ? 16u : bytes_of_kind(call.kind));
  const uvec2 cell = plus(cell_address(call, key), piece_at.data);
  const uint end = min(call.tuples, (at / call.in_order + 1u) * call.in_order);
  uvec4 value = load_value(call, cell);
  uint found = kAhead;
  for (; found == kAhead && at < end; at += kAhead) {
    uint tuples[kAhead];
    bool same[kAhead];
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      tuples[i] = load_number(call.numbers, min(at + i, end - 1u));
    }
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      same[i] = key_of(call, tuples[i]) == key;
    }
    found = 0u;
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      found += found == i && same[i] && at + i < end ? 1u : 0u;
    }
    uint done = 0u;
#ifdef QUADS
    if (kQuads != 0u) {
      // Without branches, so that the loads overlap: those behind the list load the first again.
      uvec4 updates[kAhead];
      [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
        const uint tuple = i < found ? tuples[i] : tuples[0];
        updates[i] = Quad(plus(updates_address(call, tuple), piece_at.grid)).v;
      }
      [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
        uvec4 next;
        if (quick_quad(call.reduction, value, updates[i], next) && done == i && i < found) {
          value = next;
          done = i + 1u;
        }
      }
    }
#endif
    for (; done < found; ++done) {
      const uint tuple = load_number(call.numbers, at + done);
      value = joined(call, value, load_value(call, plus(updates_address(call, tuple), piece_at.grid)));
    }
  }
  store_value(call, cell, value);
}
