// SPDX-License-Identifier: MIT
#include "tables/pieces.h"

#include <algorithm>

namespace sheaf::tables {

Pieces::Pieces(const Nest& nest, int64_t most_points) : nest_(nest) {
  // The outermost loop of which one step fits; of a nest whose innermost loop is long, that one.
  level_ = nest.loops.size();
  while (level_ > 0 && nest.loops[level_ - 1].extent <= most_points / inner_) {
    inner_ *= nest.loops[--level_].extent;
  }
  if (level_ > 0) {
    --level_;
    range_ = std::max<int64_t>(most_points / inner_, 1);
  } else if (!nest.loops.empty()) {  // all of it is one piece
    inner_ /= nest.loops[0].extent;
    range_ = nest.loops[0].extent;
  }
  outer_ = Fixed<int64_t>(level_, 0);
}

bool Pieces::step_outer() {
  for (int l = level_ - 1; l >= 0; --l) {
    const Loop& loop = nest_.loops[l];
    const bool wraps = ++outer_[l] == loop.extent;
    const int64_t by = wraps ? 1 - loop.extent : 1;
    outer_output_ += by * loop.output;
    outer_data_ += by * loop.data;
    outer_index_ += by * loop.index;
    if (!wraps) {
      return true;
    }
    outer_[l] = 0;
  }
  return false;
}

bool Pieces::next(Piece& piece) {
  if (done_) {
    return false;
  }
  piece.loops.clear();
  if (nest_.loops.empty()) {
    piece.points = 1;
    piece.output = piece.data = piece.index = 0;
    done_ = true;
    return true;
  }
  const Loop& cut = nest_.loops[level_];
  const int64_t extent = std::min(range_, cut.extent - at_);
  piece.loops.push_back({extent, cut.data, cut.index, cut.output, cut.window});
  for (int l = level_ + 1; l < nest_.loops.size(); ++l) {
    piece.loops.push_back(nest_.loops[l]);
  }
  piece.points = extent * inner_;
  piece.output = outer_output_ + at_ * cut.output;
  piece.data = outer_data_ + at_ * cut.data;
  piece.index = outer_index_ + at_ * cut.index;
  at_ += extent;
  if (at_ == cut.extent) {
    at_ = 0;
    done_ = !step_outer();
  }
  return true;
}

bool is_contiguous(const Piece& piece, int64_t row_bytes) {
  int64_t expected = row_bytes;
  for (int l = piece.loops.size() - 1; l >= 0; --l) {
    if (piece.loops[l].extent != 1 && piece.loops[l].output != expected) {
      return false;
    }
    expected *= piece.loops[l].extent;
  }
  return true;
}

ByteRange covered(const Piece& piece, int64_t row_bytes) {
  ByteRange range{0, row_bytes};
  for (const Loop& loop : piece.loops) {
    const int64_t last = (loop.extent - 1) * loop.output;
    (last < 0 ? range.lo : range.hi) += last;
  }
  return range;
}

}  // namespace sheaf::tables
