// SPDX-License-Identifier: MIT
//
// Rows picked by index and pooled: one invocation per element of a bag, which joins its rows in
// order. Included with INTEGERS where there are no floats, with ENCODED where rows are decoded, with
// NATIVE_F32 or NATIVE_F64.
//
// A bag of more than `in_order` entries is left to dispatches of kLongBags, one for each so many
// entries, whose pieces are the elements of the two such bags that can reach into its entries: that
// of the first entry and that of the last. What is joined of a bag that goes on is carried to the
// next dispatch.
#include "decode.glsl"
#include "segments.glsl"

// Of the enumeration Pool.
const uint kPoolMean = 1u, kPoolSqrtN = 5u;

// What an invocation joins: entries [from, to) of a bag. `fresh`: its first ones.
struct Span {
  uvec2 bag, from, to, into;  // into: where it is carried to; 0: these are the last
  uvec2 carried;              // where the rows before them are
  bool fresh, any;
};

const uint kCarriedBytes = 32u;  // a sum and a count

bool is_long(Bag bag, uvec2 from, uvec2 to) {
  return below(uvec2(bag.in_order, 0u), minus(to, from));
}

Span short_bag(Bag bag, uvec2 s) {
  const uvec2 from = bag_begin(bag, s), end = bag_begin(bag, plus(s, 1u));
  const uvec2 to = below(end, from) ? from : end;
  return Span(s, from, to, uvec2(0u), uvec2(0u), true, !is_long(bag, from, to));
}

// The first bag that ends behind an entry, or the last.
uvec2 bag_of_entry(Bag bag, uvec2 entry) {
  uvec2 low = uvec2(0u), count = minus(bag.bags, uvec2(1u, 0u));
  while (!is_zero(count)) {
    const uvec2 middle = shifted_right(count, 1u);
    if (!below(entry, bag_begin(bag, plus(plus(low, middle), 1u)))) {
      low = plus(plus(low, middle), 1u);
      count = minus(minus(count, middle), uvec2(1u, 0u));
    } else {
      count = middle;
    }
  }
  return low;
}

// Row 2w is of the long bag that holds the first entry of window w, row 2w + 1 of one that begins
// behind it and holds the last.
Span long_bag(Bag bag, uvec2 row, uvec2 element) {
  const uvec2 window = shifted_right(row, 1u);
  const uvec2 first = times(window, bag.in_order), behind = plus(first, bag.in_order);
  const uvec2 end = below(bag.entries, behind) ? bag.entries : behind;
  const bool of_last = (row.x & 1u) != 0u;
  const uvec2 entry = of_last ? minus(end, uvec2(1u, 0u)) : first;
  const uvec2 s = bag_of_entry(bag, entry);
  const uvec2 begin = bag_begin(bag, s), stop = bag_begin(bag, plus(s, 1u));
  const bool any = !below(entry, begin) && below(entry, stop) && is_long(bag, begin, stop) &&
                   (!of_last || below(first, begin));
  const uvec2 sums = plus(bag.carried, times(element, 2u * kCarriedBytes));
  const uint parity = window.x & 1u;
  const uvec2 into = below(end, stop) ? plus(sums, kCarriedBytes * parity) : uvec2(0u);
  return Span(s, below(first, begin) ? begin : first, below(end, stop) ? end : stop, into,
              plus(sums, kCarriedBytes * (1u - parity)), !below(begin, first), any);
}

uvec4 words_of(uint words[4]) { return uvec4(words[0], words[1], words[2], words[3]); }

// The entry of a place among the indices: false if it is left out. `inside`: it names a row.
bool names_entry(Call call, Bag bag, uvec2 p, out uvec2 entry, out bool inside) {
  Nest nest = Nest(call.nest);
  entry = p;
  inside = true;
  if (bag.indexed != 0u) {
    const uvec2 raw =
        load_raw(nest.index_kind, call.indices, element_of_entry(bag.index_places, p));
    inside = entry_of(rule_of(nest), raw, bag.extent, entry);
    if (!inside) {
      report_met(call, rule_of(nest));
    }
  }
  return inside ? entry != bag.padding : nest.out_of_range == kFill;
}

uvec4 plain_element(Table table, uvec2 entry, uvec2 element) {
  return load_element(table.kind, plus(plus(table.stored, times(entry, table.row_stride)),
                                       times(element, table.element_stride)));
}

#ifdef INTEGERS

uvec4 with_entry(Call call, Bag bag, uvec2 p, uvec2 entry, bool inside, uvec2 element,
                 uvec4 value) {
  const uvec4 row =
      inside ? plain_element(Table(call.table), entry, element) : words_of(bag.fill);
  return reduced_integers(bag.computed, bag.reduction, value, row);
}

#else

// A float of any type as the one that is computed in.
uvec4 as_computed(Bag bag, uint kind, uvec4 value) {
  if (kind == bag.computed) {
    return value;
  }
  const uvec2 wide = uvec2(widened(kind, value.x), 0u);
#ifdef NATIVE_F32
  return uvec4(wide, 0u, 0u);
#else
  return uvec4(converted(kFloat32, bag.computed, wide), 0u, 0u);
#endif
}

uvec4 weight_of(Bag bag, uvec2 p) {
  const uvec2 at = times(element_of_entry(bag.weight_places, p), bytes_of_kind(bag.weight_kind));
  return load_element(bag.weight_kind, plus(bag.weights, at));
}

#ifdef ENCODED
const bool kDecodes = true;
#else
const bool kDecodes = false;
#endif

Decoding row_element(Table table, Bag bag, uvec2 entry, uvec2 element) {
  uvec2 within;
  const uvec2 row = divided(element, table.elements, within);
  return decoding_of(table, plus(times(entry, bag.rows_per_entry), row), within);
}

// The operations that an entry takes, in order: two that decode its element, the product with its
// weight, the reduction. A loop, so that the code of one is there once.
uvec4 with_entry(Call call, Bag bag, uvec2 p, uvec2 entry, bool inside, uvec2 element,
                 uvec4 value) {
  Table table = Table(call.table);
  uvec4 row = words_of(bag.fill);
  uint row_kind = bag.computed;
  Decoding decoding = Decoding(0u, kNone, 0u, kNone, 0u);
  if (inside && kDecodes) {
    decoding = row_element(table, bag, entry, element);
    row = uvec4(decoding.value, 0u, 0u, 0u);
    row_kind = kFloat32;
  } else if (inside) {
    row = plain_element(table, entry, element);
    row_kind = table.kind;
  }
  for (uint step = kDecodes ? 0u : 2u; step < 4u; ++step) {
    uint kind = bag.computed, operation = bag.reduction;
    uvec4 operands[2];
    operands[0] = step == 3u ? value : row;
    operands[1] = row;
    if (step < 2u) {
      kind = kFloat32;
      operation = step == 0u ? decoding.first : decoding.second;
      operands[1] = uvec4(step == 0u ? decoding.a : decoding.b, 0u, 0u, 0u);
    } else if (step == 2u) {
      operation = bag.weighted != 0u ? kMul : kNone;
      operands[1] = operation == kMul ? weight_of(bag, p) : row;
      for (uint i = 0u; i < 2u; ++i) {
        operands[i] = as_computed(bag, i == 0u || operation == kNone ? row_kind : bag.weight_kind,
                                  operands[i]);
      }
      row = operands[0];
    }
    if (operation != kNone) {
      const uvec4 result = reduced_floats(kind, operation, operands[0], operands[1]);
      value = step == 3u ? result : value;
      row = step == 3u ? row : result;
    }
  }
  return value;
}

#endif

// What becomes of the rows of a bag that were joined.
uvec4 pooled(Bag bag, uvec4 joined, uvec2 count) {
  if (is_zero(count)) {
    return words_of(bag.empty);
  }
#ifdef INTEGERS
  return bag.pool == kPoolMean
             ? uvec4(mean_of_integer(bag.computed, joined.xy, count), 0u, 0u)
             : joined;
#else
  uvec4 value = joined;
  if (bag.pool == kPoolMean || bag.pool == kPoolSqrtN) {
    const Number divisor =
        bag.pool == kPoolMean ? number_of_count(count) : root_of_count(count);
    value = quotients_of_floats(bag.computed, joined, divisor);
  }
  if (bag.output_kind != bag.computed) {
    value = uvec4(converted(bag.computed, bag.output_kind, value.xy), 0u, 0u);
  }
  return value;
#endif
}

void main() {
  Call call = Call(push.call);
  Bag bag = Bag(call.bag);
  const uint piece = piece_number();
  if (piece >= push.count || refused(call) ||
      (!is_zero(bag.faults) && load_word(plus(bag.faults, kBad)) != 0u)) {
    return;
  }
  uvec2 element;
  const uvec2 row = row_of_piece(piece, element);
  const bool long_bags = (call.flags & kLongBags) != 0u;
  Span span = short_bag(bag, long_bags ? uvec2(0u) : row);
  if (long_bags) {
    span = long_bag(bag, row, element);
  }
  if (!span.any) {
    return;
  }
  uvec4 value = span.fresh ? words_of(bag.neutral) : Quad(span.carried).v;
  uvec2 count = span.fresh ? uvec2(0u) : Pair(plus(span.carried, 16u)).v;
  for (uvec2 p = span.from; below(p, span.to); p = plus(p, 1u)) {
    uvec2 entry;
    bool inside;
    if (names_entry(call, bag, p, entry, inside)) {
      value = with_entry(call, bag, p, entry, inside, element, value);
      count = plus(count, 1u);
    }
  }
  if (!is_zero(span.into)) {
    Quad(span.into).v = value;
    Pair(plus(span.into, 16u)).v = count;
    return;
  }
  const uvec2 to = plus(times(span.bag, bag.bag_stride), times(element, bag.element_stride));
  store_element(bag.output_kind, plus(call.grid, to), pooled(bag, value, count));
}
