// SPDX-License-Identifier: MIT
//
// A nest as kernels take it (nest.h has the same structs), and the index rule. src/plan/resolve.h
// is the definition; the tests hold this to it.
#ifndef SHEAF_NEST
#define SHEAF_NEST

#include "memory.glsl"

layout(local_size_x = 128) in;
const uint kGroup = 128u;

// Of the enumerations Kind, Negative and OutOfRange.
const uint kInt8 = 1u, kInt16 = 2u, kInt32 = 3u, kInt64 = 4u;
const uint kUInt8 = 5u, kUInt16 = 6u, kUInt32 = 7u, kUInt64 = 8u;
const uint kFromEnd = 0u;
const uint kFail = 0u, kClamp = 1u, kFill = 2u, kWrap = 3u, kTrust = 4u, kSkip = 5u;

struct Loop {
  uvec2 data, index, grid, extent;
  uint divisor, magic, shift, unused;
};

struct Coordinate {
  uvec2 extent, stride, offset;
  uvec2 window_inner, window_extent;  // a scatter's window; window_inner is 0 if there is none
};

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Nest {
  uint loops, coordinates, narrow, index_kind;
  uint negative, out_of_range, unused0, unused1;
  Coordinate coordinate[32];
  Loop loop[32];
};

// What an index means.
struct Rule {
  uint index_kind, negative, out_of_range;
};
Rule rule_of(Nest nest) { return Rule(nest.index_kind, nest.negative, nest.out_of_range); }

// What a kernel is called with; not all of them use all of it.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Call {
  uvec2 data, indices, grid;  // grid: a gather's output, a scatter's updates
  uvec2 verdict;              // 0: there is none
  uvec2 nest, slices;
  uvec2 keys, high_keys, numbers, sorted, histogram;
  uvec2 lowest, unit, key_count;  // of a scatter's cells
  uvec2 inner, components, repeats, self;
  uvec2 row_bytes;
  uint element_bytes, flags, tuples, kind;
  uint to_kind, reduction, in_order, unused0;
  uint fill[16];
  uvec2 table, bag;  // decode.glsl, segments.glsl
};
const uint kFillAll = 1u, kOnlyIfMet = 2u, kChecksWhileMoving = 4u, kMarked = 8u;
const uint kLongBags = 16u;

// The nest of gather_lines: two loops, of which the inner one has `divisor` points, and the
// coordinate. `rule` has the divisor's shift, the Rule, and whether a check ran before.
struct Line {
  uvec2 data, indices, grid;
  uvec2 extent, stride;
  uvec2 inner_data, outer_data;
  int inner_index, outer_index;
  uint divisor, magic, rule;
};
const uint kLineChecked = 1u << 24;

// One dispatch: `count` pieces, which are `columns` to a row, from a row and a column on.
layout(push_constant) uniform Push {
  uvec2 call;
  uvec2 first_row, first_column;
  uint count, columns, magic, shift;
  uint last;
  Line line;
} push;

uint group_number() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
uint piece_number() { return group_number() * kGroup + gl_LocalInvocationID.x; }

// number / divisor by a product; number < 2^31.
uint quotient_of(uint number, uint magic, uint shift) {
  const uvec2 product = times(number, magic);
  return shift == 0u ? (product.y << 1) | (product.x >> 31) : product.y >> (shift - 1u);
}

// The row and the column of a piece of this dispatch.
uvec2 row_of_piece(uint piece, out uvec2 column) {
  const uint row = quotient_of(piece, push.magic, push.shift);
  column = plus(push.first_column, piece - row * push.columns);
  return plus(push.first_row, row);
}

struct Place {
  uvec2 data, index, grid;
};

void step_along(inout Place place, Nest nest, int l, uvec2 at) {
  place.data = plus(place.data, times(nest.loop[l].data, at));
  place.index = plus(place.index, times(nest.loop[l].index, at));
  place.grid = plus(place.grid, times(nest.loop[l].grid, at));
}

// Where a point of the nest stands in the three tensors, before its indices are read. Loops are
// innermost first.
Place locate(Nest nest, uvec2 point) {
  Place place = Place(uvec2(0u), uvec2(0u), uvec2(0u));
  const int last = int(nest.loops) - 1;  // the outermost: it takes what is left
  if (nest.narrow != 0u) {
    uint rest = point.x;
    for (int l = 0; l < last; ++l) {
      const uint outer = quotient_of(rest, nest.loop[l].magic, nest.loop[l].shift);
      step_along(place, nest, l, uvec2(rest - outer * nest.loop[l].divisor, 0u));
      rest = outer;
    }
    if (last >= 0) {
      step_along(place, nest, last, uvec2(rest, 0u));
    }
    return place;
  }
  for (int l = 0; l < last; ++l) {
    uvec2 at;
    point = divided(point, nest.loop[l].extent, at);
    step_along(place, nest, l, at);
  }
  if (last >= 0) {
    step_along(place, nest, last, point);
  }
  return place;
}

uvec2 sign_extended(int value) { return uvec2(uint(value), uint(value >> 31)); }

// An index of whole words, as 64 bits.
uvec2 load_whole(uint kind, uvec2 indices, uvec2 element) {
  if (kind == kInt64 || kind == kUInt64) {
    return Pair(plus(indices, shifted_left(element, 3u))).v;
  }
  const uint low = load_word(plus(indices, shifted_left(element, 2u)));
  return kind == kInt32 ? sign_extended(int(low)) : uvec2(low, 0u);
}

// Any index.
uvec2 load_raw(uint kind, uvec2 indices, uvec2 element) {
  switch (kind) {
    case kInt8: return sign_extended(bitfieldExtract(int(load_bytes(plus(indices, element), 1u)), 0, 8));
    case kUInt8: return uvec2(load_bytes(plus(indices, element), 1u), 0u);
    case kInt16: return sign_extended(bitfieldExtract(
        int(load_bytes(plus(indices, shifted_left(element, 1u)), 2u)), 0, 16));
    case kUInt16: return uvec2(load_bytes(plus(indices, shifted_left(element, 1u)), 2u), 0u);
  }
  return load_whole(kind, indices, element);
}

uvec2 wrapped(uvec2 raw, uvec2 extent, bool below_zero) {
  uvec2 rest;
  divided(below_zero ? negated(raw) : raw, extent, rest);
  return below_zero && !is_zero(rest) ? minus(extent, rest) : rest;
}

bool below_zero(Rule rule, uvec2 raw) { return is_negative(raw) && rule.index_kind != kUInt64; }

// Whether an index is one of [0, extent), or of [-extent, 0) where these count from the end.
bool in_range(Rule rule, uvec2 raw, uvec2 extent, out uvec2 entry) {
  entry = below_zero(rule, raw) && rule.negative == kFromEnd ? plus(raw, extent) : raw;
  return below(entry, extent);
}

// Whether the rule gives an entry of [0, extent) for an index.
bool entry_of(Rule rule, uvec2 raw, uvec2 extent, out uvec2 entry) {
  if (in_range(rule, raw, extent, entry)) {
    return true;
  }
  switch (rule.out_of_range) {
    case kClamp:
      entry = below_zero(rule, raw) ? uvec2(0u) : minus(extent, uvec2(1u, 0u));
      return true;
    case kWrap: entry = wrapped(raw, extent, below_zero(rule, raw)); return true;
    case kTrust: entry = raw; return true;
  }
  return false;
}

// The same for a place in a window that starts at the index, which may itself lie outside.
bool window_entry(Nest nest, uvec2 raw, uvec2 window, uvec2 extent, out uvec2 entry) {
  uvec2 start = raw;
  if (nest.index_kind == kUInt64 && is_negative(raw)) {
    start = uvec2(0xFFFFFFFFu, 0x7FFFFFFFu);
  } else if (is_negative(raw) && nest.negative == kFromEnd) {
    start = plus(raw, extent);
  }
  entry = plus(start, window);
  return !below_signed(start, negated(window)) && below_signed(start, minus(extent, window));
}

uvec2 window_place(uvec2 point, Coordinate coordinate) {
  uvec2 rest, unused;
  divided(divided(point, coordinate.window_inner, unused), coordinate.window_extent, rest);
  return rest;
}

// Whether a point leads to data, and to which byte of it.
bool target_of(Nest nest, uvec2 indices, uvec2 point, Place place, out uvec2 at) {
  at = place.data;
  for (uint c = 0u; c < nest.coordinates; ++c) {
    const Coordinate coordinate = nest.coordinate[c];
    const uvec2 raw = load_raw(nest.index_kind, indices, plus(place.index, coordinate.offset));
    const uvec2 window =
        is_zero(coordinate.window_inner) ? uvec2(0u) : window_place(point, coordinate);
    uvec2 entry;
    const bool inside = is_zero(window)
                            ? entry_of(rule_of(nest), raw, coordinate.extent, entry)
                            : window_entry(nest, raw, window, coordinate.extent, entry);
    if (!inside) {
      return false;
    }
    at = plus(at, times(coordinate.stride, entry));
  }
  return true;
}

// Parts of Verdict.
const uint kBad = 0u, kNotFirst = 8u, kValue = 16u, kFound = 24u, kMet = 28u;

// Whether a check that ran before found a bad index.
bool refused(Call call) {
  return !is_zero(call.verdict) && (call.flags & kChecksWhileMoving) == 0u &&
         !is_zero(Pair(call.verdict).v);
}

void report_met(Call call, Rule rule) {
  if (rule.out_of_range == kFail && !is_zero(call.verdict) && (call.flags & kFillAll) == 0u) {
    store_word(plus(call.verdict, kMet), 1u);
  }
}

// Byte `at` of fill values side by side; `at` is that of a row.
uint fill_byte(Call call, uint at) {
  return (call.fill[at >> 2] >> (8u * (at & 3u))) & 0xFFu;
}
uint fill_phase(Call call, uvec2 at) {
  uvec2 rest;
  divided(at, uvec2(call.element_bytes, 0u), rest);
  return rest.x;
}
uint fill_bytes(Call call, uint phase, uint bytes) {
  uint value = 0u;
  for (uint b = 0u; b < bytes; ++b) {
    value |= fill_byte(call, phase) << (8u * b);
    phase = phase + 1u == call.element_bytes ? 0u : phase + 1u;
  }
  return value;
}

#endif
