// SPDX-License-Identifier: MIT
//
// Two tensors of one shape, side by side in row-major order; and parts of a list, for threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sheaf/tensor.h"

namespace sheaf::moves {

struct Rows {
  Dims sizes;             // at least one; neighbours are merged where both tensors allow it
  Dims a_steps, b_steps;  // bytes
  int64_t elements;

  int64_t a_step() const { return a_steps.back(); }
  int64_t b_step() const { return b_steps.back(); }
};

// Whether a step over `size` inner steps is the outer one. No product, which could overflow.
inline bool chains(int64_t outer, int64_t inner, int64_t size) {
  return outer % size == 0 && outer / size == inner;
}

// Of tensors that check_tensor() has let pass: no step overflows.
inline Rows rows_of(const TensorSpec& a, const TensorSpec& b) {
  Rows rows{{}, {}, {}, element_count(a.sizes)};
  for (int d = 0; d < a.rank(); ++d) {
    const int64_t size = a.sizes[d];
    if (rows.elements == 0 || size == 1) {
      continue;  // such a dimension may have any stride
    }
    const int64_t a_step = a.strides[d] * a.dtype.bytes(), b_step = b.strides[d] * b.dtype.bytes();
    if (rows.sizes.size() > 0 && chains(rows.a_steps.back(), a_step, size) &&
        chains(rows.b_steps.back(), b_step, size)) {
      rows.sizes.back() *= size;
      rows.a_steps.back() = a_step;
      rows.b_steps.back() = b_step;
    } else {
      rows.sizes.push_back(size);
      rows.a_steps.push_back(a_step);
      rows.b_steps.push_back(b_step);
    }
  }
  if (rows.sizes.size() == 0) {  // one element, or none
    rows.sizes.push_back(rows.elements);
    rows.a_steps.push_back(0);
    rows.b_steps.push_back(0);
  }
  return rows;
}

// Calls body(a, b, place, count) for the pieces of rows that elements [begin, end) are, in order:
// `count` elements from number `place` on, and the byte offsets of the first in both tensors.
template <class Body>
void for_pieces(const Rows& rows, int64_t begin, int64_t end, Body body) {
  if (begin >= end) {
    return;
  }
  const int last = rows.sizes.size() - 1;
  Dims at(last + 1, 0);
  int64_t a = 0, b = 0, rest = begin;
  for (int d = last; d >= 0; --d) {
    at[d] = rest % rows.sizes[d];
    rest /= rows.sizes[d];
    a += at[d] * rows.a_steps[d];
    b += at[d] * rows.b_steps[d];
  }
  for (int64_t place = begin; place < end;) {
    const int64_t count = std::min(rows.sizes[last] - at[last], end - place);
    body(a, b, place, count);
    place += count;
    a -= at[last] * rows.a_steps[last];
    b -= at[last] * rows.b_steps[last];
    at[last] = 0;
    for (int d = last - 1; d >= 0; --d) {  // never a step past the end, which could overflow
      if (at[d] + 1 < rows.sizes[d]) {
        a += rows.a_steps[d];
        b += rows.b_steps[d];
        ++at[d];
        break;
      }
      a -= rows.a_steps[d] * at[d];
      b -= rows.b_steps[d] * at[d];
      at[d] = 0;
    }
  }
}

// More parts than this do not make anything faster.
inline constexpr int64_t kMostParts = 64;

// [0, items) in `count` contiguous parts, for work that needs something of its own for each.
struct Parts {
  int64_t items, count;

  int64_t begin(int64_t part) const {  // no product of items, which could overflow
    return part * (items / count) + std::min(part, items % count);
  }
  int64_t end(int64_t part) const { return begin(part + 1); }
};

}  // namespace sheaf::moves
