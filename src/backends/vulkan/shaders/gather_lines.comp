#version 460
// SPDX-License-Identifier: MIT
//
// What most gathers are: one index per row, rows in line in the output, no more than two loops,
// aligned words. All that a word needs is in the push constants, so that nothing stands between the
// launch and the load of an index. Several words per invocation are in flight at once; those whose
// index is out of range follow one by one.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "nest.glsl"

layout(constant_id = 0) const uint kWords = 4u;  // 1, 2 or 4
const uint kInFlight = 4u;
#include "words.glsl"

struct Piece {
  uvec2 index;   // which is its row's
  uvec2 data;    // the piece of the row that index 0 would name
  uint column;
};

Piece piece_of(uint number) {
  const uint row = quotient_of(number, push.magic, push.shift);
  const uint point = push.first_row.x + row;
  const uint outer = quotient_of(point, push.line.magic, push.line.rule & 0xFFu);
  const uint inner = point - outer * push.line.divisor;
  Piece piece;
  piece.column = number - row * push.columns;
  piece.index = plus(times(sign_extended(push.line.inner_index), inner),
                     times(sign_extended(push.line.outer_index), outer));
  piece.data = plus(plus(push.line.data, times(piece.column, 4u * kWords)),
                    plus(times(push.line.inner_data, inner), times(push.line.outer_data, outer)));
  return piece;
}

uvec2 place_of(uint number) {
  const uvec2 all = plus(times(push.first_row, push.columns), number);
  return plus(push.line.grid, times(all, 4u * kWords));
}

void move_by_rule(Rule rule, uint number) {
  const Piece piece = piece_of(number);
  const uvec2 raw = load_whole(rule.index_kind, push.line.indices, piece.index);
  uvec4 value;
  uvec2 entry;
  if (entry_of(rule, raw, push.line.extent, entry)) {
    value = load_words(plus(piece.data, times(push.line.stride, entry)));
  } else {
    report_met(Call(push.call), rule);
    value = fill_words(Call(push.call), times(piece.column, 4u * kWords));
  }
  store_words(place_of(number), value);
}

void main() {
  if ((push.line.rule & kLineChecked) != 0u && refused(Call(push.call))) {
    return;
  }
  const Rule rule = Rule((push.line.rule >> 8) & 0xFFu, (push.line.rule >> 16) & 0xFu,
                         (push.line.rule >> 20) & 0xFu);
  const uint first = group_number() * kGroup * kInFlight + gl_LocalInvocationID.x;
  uvec2 raw[kInFlight], data[kInFlight];
  [[unroll]] for (uint i = 0u; i < kInFlight; ++i) {
    if (first + i * kGroup < push.count) {
      const Piece piece = piece_of(first + i * kGroup);
      data[i] = piece.data;
      raw[i] = load_whole(rule.index_kind, push.line.indices, piece.index);
    }
  }
  uvec4 value[kInFlight];
  uint inside = 0u, outside = 0u;
  [[unroll]] for (uint i = 0u; i < kInFlight; ++i) {
    if (first + i * kGroup < push.count) {
      uvec2 entry;
      if (in_range(rule, raw[i], push.line.extent, entry)) {
        value[i] = load_words(plus(data[i], times(push.line.stride, entry)));
        inside |= 1u << i;
      } else {
        outside |= 1u << i;
      }
    }
  }
  [[unroll]] for (uint i = 0u; i < kInFlight; ++i) {
    if ((inside & (1u << i)) != 0u) {
      store_words(place_of(first + i * kGroup), value[i]);
    }
  }
  for (; outside != 0u; outside &= outside - 1u) {
    move_by_rule(rule, first + uint(findLSB(outside)) * kGroup);
  }
}
