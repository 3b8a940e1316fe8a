// SPDX-License-Identifier: MIT
//
// A bag as kernels take it (table.h has the same struct), and where its entries lie.
#ifndef SHEAF_SEGMENTS
#define SHEAF_SEGMENTS

#include "nest.glsl"

const uint kParts = 64u;  // of SegmentFaults

// Entry p is at p / columns * outer + p % columns * inner.
struct Places {
  uvec2 columns, outer, inner;
};

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Bag {
  uvec2 weights, segments;
  uvec2 offsets;  // the run's own; 0 where every bag has per_bag entries
  uvec2 faults;   // SegmentFaults; when all segments are checked, a Verdict
  uvec2 state;    // what the check of the segments keeps
  uvec2 carried;  // sums of a bag that the next dispatch goes on with
  uvec2 extent, rows_per_entry, elements, entries, bags, per_bag, padding;
  uvec2 segment_count, segment_stride, bag_stride, element_stride;
  Places index_places, weight_places;
  uint indexed, segment_kind, weighted, weight_kind;
  uint pool, reduction, computed, output_kind;
  uint in_order, unused0;
  uint neutral[4], fill[4], empty[4];
};

// Parts of the state: sums of lengths by parts, sums before a dispatch.
const uint kSums = 0u, kBefore = 512u;

uvec2 element_of_entry(Places places, uvec2 p) {
  uvec2 column;
  const uvec2 row = divided(p, places.columns, column);
  return plus(times(row, places.outer), times(column, places.inner));
}

// Where bag s begins, and for s = bags where the last one ends. Ids that change while they are
// searched lead to offsets in any order, but never outside.
uvec2 bag_begin(Bag bag, uvec2 s) {
  if (is_zero(bag.offsets)) {
    return times(s, bag.per_bag);
  }
  const uvec2 offset = Pair(plus(bag.offsets, shifted_left(s, 3u))).v;
  return below(bag.entries, offset) ? bag.entries : offset;
}

#endif
