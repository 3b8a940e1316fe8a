#version 460
// SPDX-License-Identifier: MIT
//
// Segments into offsets of the run's own. One group per part of SegmentFaults, each of which looks at
// a part of the items of this dispatch and leaves the first bad one there; a dispatch before this one
// looked at earlier items. push.columns says what is done with them.
#extension GL_GOOGLE_include_directive : require
#include "segments.glsl"

// Items are offsets; lengths to be added up; lengths; ids; bags whose first entry is searched.
const uint kOffsets = 0u, kLengthSums = 1u, kLengths = 2u, kIds = 3u, kBegins = 4u;
const uint kJudge = 5u;  // no items: what all parts have found

struct Fault {
  uvec2 not_first, value;  // not_first is 0 where there is none
};
shared uvec2 not_firsts[kGroup], values[kGroup], sums[kGroup];

// A segment as 64 bits, widened as plan/resolve.h says. Bits are loaded in one way for all types: what
// is here so often has to be short.
uvec2 segment_at(Bag bag, uvec2 i) {
  const uint log_bytes = (bag.segment_kind - 1u) & 3u;
  const uvec2 at =
      plus(bag.segments, shifted_left(times(i, bag.segment_stride), log_bytes));
  const uint low = log_bytes < 2u ? load_bytes(at, 1u << log_bytes) : load_word(at);
  if (bag.segment_kind > kInt64) {
    const uvec2 raw = uvec2(low, log_bytes == 3u ? load_word(plus(at, 4u)) : 0u);
    return is_negative(raw) ? uvec2(0xFFFFFFFFu, 0x7FFFFFFFu) : raw;
  }
  if (log_bytes == 3u) {
    return uvec2(low, load_word(plus(at, 4u)));
  }
  return sign_extended(bitfieldExtract(int(low), 0, int(8u << log_bytes)));
}

void note(inout Fault fault, uvec2 at, uvec2 value) {
  if (is_zero(fault.not_first)) {  // an invocation meets its items in order
    fault = Fault(~at, value);
  }
}

// By all invocations of a group.
void leave(Bag bag, uint part, Fault fault) {
  const uint self = gl_LocalInvocationID.x;
  not_firsts[self] = fault.not_first;
  values[self] = fault.value;
  barrier();
  const uvec2 to = plus(bag.faults, 8u * part);
  if (self != 0u || part >= kParts || (!is_zero(push.first_row) && !is_zero(Pair(to).v))) {
    return;
  }
  Fault first = Fault(uvec2(0u), uvec2(0u));
  for (uint i = 0u; i < kGroup; ++i) {
    if (below(first.not_first, not_firsts[i])) {
      first = Fault(not_firsts[i], values[i]);
    }
  }
  Pair(to).v = first.not_first;
  Pair(plus(to, 8u * kParts)).v = first.value;
}

void store_offset(Bag bag, uvec2 i, uvec2 offset) {
  Pair(plus(bag.offsets, shifted_left(i, 3u))).v = offset;
}

uvec2 offset_at(Bag bag, uvec2 i) {
  if (below(i, bag.segment_count)) {
    return segment_at(bag, i);
  }
  return is_zero(bag.bags) ? uvec2(0u) : bag.entries;
}

void check_offset(Bag bag, uvec2 i, inout Fault fault) {
  const uvec2 offset = offset_at(bag, i);
  const uvec2 before = is_zero(i) ? uvec2(0u) : offset_at(bag, minus(i, uvec2(1u, 0u)));
  store_offset(bag, i, is_negative(offset) ? uvec2(0u) : offset);
  if (below_signed(offset, before) || below_signed(bag.entries, offset) ||
      (is_zero(i) && !is_zero(offset))) {
    note(fault, i, offset);
  }
}

void check_id(Bag bag, uvec2 i, inout Fault fault) {
  const uvec2 id = segment_at(bag, i);
  const uvec2 before = is_zero(i) ? uvec2(0u) : segment_at(bag, minus(i, uvec2(1u, 0u)));
  if (is_negative(id) || !below_signed(id, bag.bags) || below_signed(id, before)) {
    note(fault, i, id);
  }
}

// The first entry whose bag is `s` or a later one. Within the entries, whatever the ids are.
uvec2 first_of_bag(Bag bag, uvec2 s) {
  uvec2 low = uvec2(0u), count = bag.segment_count;
  while (!is_zero(count)) {
    const uvec2 middle = shifted_right(count, 1u);
    if (below_signed(segment_at(bag, plus(low, middle)), s)) {
      low = plus(plus(low, middle), 1u);
      count = minus(minus(count, middle), uvec2(1u, 0u));
    } else {
      count = middle;
    }
  }
  return low;
}

// Sums of lengths end at one more than there are entries: from there on they are wrong, and no more
// than that matters.
uvec2 most_of(Bag bag) { return plus(bag.entries, 1u); }
uvec2 sum_of_lengths(Bag bag, uvec2 a, uvec2 b) {
  const uvec2 sum = plus(a, b);  // both are at most 2^63
  return below(most_of(bag), sum) ? most_of(bag) : sum;
}
uvec2 length_of(Bag bag, uvec2 raw) {
  return is_negative(raw) || below(most_of(bag), raw) ? most_of(bag) : raw;
}

// The sum of the items [first, end).
uvec2 sum_of_items(Bag bag, uint first, uint end) {
  uvec2 sum = uvec2(0u);
  for (uint i = first; i < end; ++i) {
    sum = sum_of_lengths(bag, sum, length_of(bag, segment_at(bag, plus(push.first_row, i))));
  }
  return sum;
}

// The sum of what the invocations before this one pass; `total`: of all.
uvec2 sum_before(Bag bag, uvec2 mine, out uvec2 total) {
  sums[gl_LocalInvocationID.x] = mine;
  barrier();
  uvec2 before = uvec2(0u);
  total = uvec2(0u);
  for (uint i = 0u; i < kGroup; ++i) {
    before = i == gl_LocalInvocationID.x ? total : before;
    total = sum_of_lengths(bag, total, sums[i]);
  }
  return before;
}

uvec2 part_sum(Bag bag, uint part) { return plus(bag.state, kSums + 8u * part); }

// What this dispatch starts from. Two places, so that it can be read while the next is written.
uvec2 sums_before(Bag bag, uint parity) { return plus(bag.state, kBefore + 8u * parity); }

// `first` and `end`: of the items of this invocation, which lie behind those of its neighbours.
void add_up(Bag bag, uint part, uint first, uint end) {
  uvec2 total;
  sum_before(bag, sum_of_items(bag, first, end), total);
  if (gl_LocalInvocationID.x == 0u && part < kParts) {
    Pair(part_sum(bag, part)).v = total;
  }
}

void write_offsets(Bag bag, uint part, uint first, uint end, inout Fault fault) {
  uvec2 before = is_zero(push.first_row) ? uvec2(0u) : Pair(sums_before(bag, push.shift)).v;
  for (uint p = 0u; p < part; ++p) {
    before = sum_of_lengths(bag, before, Pair(part_sum(bag, p)).v);
  }
  uvec2 total;
  const uvec2 mine = sum_before(bag, sum_of_items(bag, first, end), total);
  total = sum_of_lengths(bag, before, total);
  uvec2 sum = sum_of_lengths(bag, before, mine);
  for (uint i = first; i < end; ++i) {
    const uvec2 at = plus(push.first_row, i);
    const uvec2 length = segment_at(bag, at);
    sum = sum_of_lengths(bag, sum, length_of(bag, length));
    store_offset(bag, plus(at, 1u), sum);
    if (sum == most_of(bag)) {
      note(fault, at, length);
    }
  }
  if (gl_LocalInvocationID.x == 0u && part == 0u && is_zero(push.first_row)) {
    store_offset(bag, uvec2(0u), uvec2(0u));
  }
  if (gl_LocalInvocationID.x == 0u && part == kParts - 1u) {
    Pair(sums_before(bag, 1u - push.shift)).v = total;
    if (push.last != 0u && total != bag.entries && is_zero(fault.not_first)) {
      fault = Fault(~bag.segment_count, total);  // a bad length is an earlier segment than this
    }
  }
}

// The first fault of all parts becomes the verdict. By one invocation: its head is theirs.
void judge(Bag bag) {
  Fault first = Fault(uvec2(0u), uvec2(0u));
  for (uint part = 0u; part < kParts; ++part) {
    const uvec2 at = plus(bag.faults, 8u * part);
    if (below(first.not_first, Pair(at).v)) {
      first = Fault(Pair(at).v, Pair(plus(at, 8u * kParts)).v);
    }
  }
  Pair(plus(bag.faults, kBad)).v = uvec2(is_zero(first.not_first) ? 0u : 1u, 0u);
  Pair(plus(bag.faults, kNotFirst)).v = first.not_first;
  Pair(plus(bag.faults, kValue)).v = first.value;
}

void main() {
  Bag bag = Bag(Call(push.call).bag);
  const uint step = push.columns;
  const uint part = group_number(), self = gl_LocalInvocationID.x;
  if (step == kJudge) {
    if (self == 0u) {
      judge(bag);
    }
    return;
  }
  const uint each = (push.count + kParts - 1u) / kParts;
  const uint begin = min(part * each, push.count), end = min(begin + each, push.count);
  Fault fault = Fault(uvec2(0u), uvec2(0u));
  if (step == kLengthSums || step == kLengths) {
    const uint mine = (each + kGroup - 1u) / kGroup;
    const uint first = min(begin + self * mine, end), behind = min(first + mine, end);
    if (step == kLengthSums) {
      add_up(bag, part, first, behind);
      return;
    }
    write_offsets(bag, part, first, behind, fault);
  }
  for (uint i = begin + self; step != kLengths && i < end; i += kGroup) {
    const uvec2 at = plus(push.first_row, i);
    if (step == kOffsets) {
      check_offset(bag, at, fault);
    } else if (step == kIds) {
      check_id(bag, at, fault);
    } else {
      store_offset(bag, at, first_of_bag(bag, at));
    }
  }
  if (step != kBegins) {
    leave(bag, part, fault);
  }
}
