// SPDX-License-Identifier: MIT
//
// The points of a nest in loop order, as byte offsets: the formula of sheaf/plan.h, a block of
// points at a time.
#pragma once

#include <span>
#include <vector>

#include "sheaf/plan.h"

namespace sheaf::io {

struct Point {
  int64_t data;  // byte offset of the row in the table; kOutside where the rule gives no row
  int64_t grid;  // byte offset of the row in the output, or in a scatter's updates
};

class Points {
 public:
  Points(const Nest& nest, const std::byte* indices);

  // The next points, none after the last.
  std::span<const Point> next();
  void rewind();
  // Goes to a point, by its number in loop order.
  void seek(int64_t point);
  // Of the next points only Point::data, without memory of its own. There are as many.
  void next_data(int64_t* to, int64_t points);
  int64_t count() const { return count_; }  // of all points

 private:
  template <class Put>
  void walk(int64_t points, const Put& put);
  template <class Index>
  int64_t data_at(int64_t index, int64_t data) const;
  void step();

  const Nest& nest_;
  const std::byte* indices_;
  int64_t count_ = 0;
  Fixed<int64_t> position_;  // of the loops but the last
  Fixed<int64_t> windows_;   // for each coordinate: the place in its window
  Loop inner_ = {};
  int64_t data_ = 0, index_ = 0, grid_ = 0;  // at position_, without the last loop
  int64_t inner_at_ = 0;
  int64_t left_ = 0;  // points to come
  std::vector<Point> block_;
};

}  // namespace sheaf::io
