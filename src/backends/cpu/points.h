// SPDX-License-Identifier: MIT
//
// The points of a nest, and those of a part of it as runs along the innermost loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/nest_shape.h"
#include "sheaf/plan.h"

namespace sheaf::cpu {

constexpr int64_t divided_up(int64_t a, int64_t b) { return (a - 1) / b + 1; }

// Where a run or tile begins: byte offsets of data and output (updates, in a scatter), element
// offset of indices.
struct Place {
  int64_t data = 0, index = 0, output = 0;
  void advance(const Loop& loop, int64_t by) {
    data += by * loop.data;
    index += by * loop.index;
    output += by * loop.output;
  }
};

inline constexpr Loop kOneStep{.extent = 1, .data = 0, .index = 0, .output = 0, .window = 0};

inline const Loop& innermost(const Nest& nest) {
  return nest.loops.empty() ? kOneStep : nest.loops.back();
}

// How many entries of data indices choose from; `most` stands for any number above it.
inline int64_t entry_count(const Nest& nest, int64_t most) {
  int64_t count = 1;
  for (const Coordinate& c : nest.coordinates) {
    count = std::min(count * std::clamp<int64_t>(c.extent, 1, most), most);
  }
  return count;
}

// Calls visit(start, count) for the runs that make up points [begin, end) of the nest, each no
// longer than `longest`, as long as it returns true.
template <class Visit>
void for_each_run(const Nest& nest, int64_t begin, int64_t end, int64_t longest, Visit visit) {
  const Loop& inner = innermost(nest);
  while (begin < end) {
    int64_t rest = begin / inner.extent;
    const int64_t first = begin % inner.extent;
    Place start;
    start.advance(inner, first);
    for (int l = nest.loops.size() - 2; l >= 0; --l) {
      start.advance(nest.loops[l], rest % nest.loops[l].extent);
      rest /= nest.loops[l].extent;
    }
    const int64_t in_loop = std::min(inner.extent - first, end - begin);
    for (int64_t at = 0; at < in_loop; at += longest) {
      const int64_t count = std::min(longest, in_loop - at);
      if (!visit(start, count)) {
        return;
      }
      start.advance(inner, count);
    }
    begin += in_loop;
  }
}

}  // namespace sheaf::cpu
