// SPDX-License-Identifier: MIT
#include "io/points.h"

#include <algorithm>

#include "plan/resolve.h"

namespace sheaf::io {
namespace {
constexpr int64_t kBlock = 2048;
}

Points::Points(const Nest& nest, const std::byte* indices) : nest_(nest), indices_(indices) {
  count_ = 1;
  for (const Loop& loop : nest.loops) {
    count_ *= loop.extent;  // cannot wrap: the grid's element count was checked
  }
  inner_ = nest.loops.empty() ? Loop{1, 0, 0, 0, 0} : nest.loops.back();
  rewind();
}

void Points::rewind() {
  position_ = Fixed<int64_t>(std::max(nest_.loops.size() - 1, 0), 0);
  windows_ = Fixed<int64_t>(nest_.coordinates.size(), 0);
  data_ = index_ = grid_ = inner_at_ = 0;
  left_ = count_;
}

// Advances the loops but the last by one step.
void Points::step() {
  for (int l = position_.size() - 1; l >= 0; --l) {
    const Loop& loop = nest_.loops[l];
    const bool wraps = ++position_[l] == loop.extent;
    const int64_t by = wraps ? 1 - loop.extent : 1;
    position_[l] = wraps ? 0 : position_[l];
    data_ += by * loop.data;
    index_ += by * loop.index;
    grid_ += by * loop.output;
    if (loop.window != 0) {
      windows_[static_cast<int>(loop.window) - 1] = position_[l];
    }
    if (!wraps) {
      return;
    }
  }
}

template <class Index>
int64_t Points::data_at(int64_t index, int64_t data) const {
  for (int c = 0; c < nest_.coordinates.size(); ++c) {
    const Coordinate& coordinate = nest_.coordinates[c];
    const auto value = load_index<Index>(indices_, index + coordinate.offset);
    const int64_t at =
        windows_[c] != 0
            ? in_range_or_outside(value, windows_[c], coordinate.extent, nest_.negative)
            : resolve(value, coordinate.extent, nest_.negative, nest_.out_of_range);
    if (at == kOutside) {
      return kOutside;
    }
    data += at * coordinate.stride;
  }
  return data;
}

void Points::seek(int64_t point) {
  rewind();
  left_ -= point;
  inner_at_ = point % inner_.extent;
  int64_t rest = point / inner_.extent;
  for (int l = position_.size() - 1; l >= 0; --l) {
    const Loop& loop = nest_.loops[l];
    const int64_t at = rest % loop.extent;
    rest /= loop.extent;
    position_[l] = at;
    data_ += at * loop.data;
    index_ += at * loop.index;
    grid_ += at * loop.output;
    if (loop.window != 0) {
      windows_[static_cast<int>(loop.window) - 1] = at;
    }
  }
}

// Calls put(number, data, grid) for the next points, numbered from 0.
template <class Put>
void Points::walk(int64_t points, const Put& put) {
  for (int64_t from = 0; from < points;) {
    const int64_t run = std::min(inner_.extent - inner_at_, points - from);
    with_index_type(nest_.index_type, [&](auto zero) {
      for (int64_t p = 0; p < run; ++p) {
        const int64_t at = inner_at_ + p;
        if (inner_.window != 0) {
          windows_[static_cast<int>(inner_.window) - 1] = at;
        }
        put(from + p, data_at<decltype(zero)>(index_ + at * inner_.index, data_ + at * inner_.data),
            grid_ + at * inner_.output);
      }
    });
    inner_at_ += run;
    from += run;
    if (inner_at_ == inner_.extent) {
      inner_at_ = 0;
      step();
    }
  }
  left_ -= points;
}

std::span<const Point> Points::next() {
  const int64_t count = std::min(left_, kBlock);
  block_.resize(static_cast<size_t>(kBlock));
  walk(count, [&](int64_t number, int64_t data, int64_t grid) {
    block_[static_cast<size_t>(number)] = {data, grid};
  });
  return {block_.data(), static_cast<size_t>(count)};
}

void Points::next_data(int64_t* to, int64_t points) {
  walk(points, [&](int64_t number, int64_t data, int64_t /*grid*/) { to[number] = data; });
}

}  // namespace sheaf::io
