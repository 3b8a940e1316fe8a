// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "plan/lower.h"
#include "support/checked.h"

namespace sheaf {
namespace {

// The product is the stride past the last entry, which no tensor need have: it may leave int64.
bool steps_over(int64_t outer, int64_t inner, int64_t inner_extent) {
  return checked_mul(inner, inner_extent) == outer;
}

bool chains(const Loop& outer, const Loop& inner) {
  return outer.window == 0 && inner.window == 0 &&
         steps_over(outer.data, inner.data, inner.extent) &&
         steps_over(outer.index, inner.index, inner.extent) &&
         steps_over(outer.output, inner.output, inner.extent);
}

bool chains(const IndexLoop& outer, const IndexLoop& inner) {
  return steps_over(outer.stride, inner.stride, inner.extent);
}

// Replaces neighbours that chain by one loop with the inner strides.
template <class L>
void merge(Fixed<L>& loops) {
  Fixed<L> merged;
  for (const L& loop : loops) {
    if (!merged.empty() && chains(merged.back(), loop)) {
      const int64_t outer_extent = merged.back().extent;
      merged.back() = loop;
      merged.back().extent *= outer_extent;
    } else {
      merged.push_back(loop);
    }
  }
  loops = merged;
}

template <class L, class Predicate>
void drop_if(Fixed<L>& loops, Predicate drop) {
  Fixed<L> kept;
  for (const L& loop : loops) {
    if (!drop(loop)) {
      kept.push_back(loop);
    }
  }
  loops = kept;
}

template <class L>
bool has_empty_loop(const Fixed<L>& loops) {
  return std::any_of(loops.begin(), loops.end(), [](const L& loop) { return loop.extent == 0; });
}

void fold_tail_into_rows(Nest& nest) {
  while (!nest.loops.empty()) {
    const Loop& last = nest.loops.back();
    if (last.index != 0 || last.window != 0 || last.data != nest.row_bytes ||
        last.output != nest.row_bytes) {
      return;
    }
    nest.row_bytes *= last.extent;
    nest.loops.pop_back();
  }
}

void normalize_loops(Nest& nest) {
  if (has_empty_loop(nest.loops)) {
    nest.loops = {Loop{0, 0, 0, 0, 0}};
    return;
  }
  drop_if(nest.loops, [](const Loop& loop) { return loop.extent == 1; });
  if (!nest.scatters) {
    std::stable_sort(nest.loops.begin(), nest.loops.end(), [](const Loop& a, const Loop& b) {
      return std::abs(a.output) > std::abs(b.output);
    });
  }
  merge(nest.loops);
  fold_tail_into_rows(nest);
}

void normalize_index_loops(Nest& nest) {
  if (has_empty_loop(nest.index_loops)) {
    nest.index_loops = {IndexLoop{0, 0}};
    return;
  }
  // A loop of stride 0 sees the same indices again.
  drop_if(nest.index_loops,
          [](const IndexLoop& loop) { return loop.extent == 1 || loop.stride == 0; });
  merge(nest.index_loops);
}

}  // namespace

void merge_loops(Nest& nest) {
  drop_if(nest.loops, [](const Loop& loop) { return loop.extent == 1; });
  merge(nest.loops);
}

void normalize(Nest& nest) {
  normalize_loops(nest);
  normalize_index_loops(nest);
}

bool Nest::empty() const { return has_empty_loop(loops); }

bool operator==(const Nest& a, const Nest& b) {
  return a.loops == b.loops && a.coordinates == b.coordinates && a.index_loops == b.index_loops &&
         a.row_bytes == b.row_bytes && a.element_bytes == b.element_bytes &&
         a.index_type == b.index_type && a.negative == b.negative &&
         a.out_of_range == b.out_of_range && a.scatters == b.scatters &&
         a.reduction == b.reduction && a.element_type == b.element_type &&
         std::memcmp(a.fill_value, b.fill_value, kMaxElementBytes) == 0;
}

}  // namespace sheaf
