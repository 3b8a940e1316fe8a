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
  if (!nest.loops.empty()) {
    ranges_ = (nest.loops[level_].extent - 1) / range_ + 1;
  }
  count_ = ranges_;
  for (int l = 0; l < level_; ++l) {
    count_ *= nest.loops[l].extent;
  }
}

Piece Pieces::at(int64_t number) const {
  Piece piece;
  if (nest_.loops.empty()) {
    piece.points = 1;
    return piece;
  }
  const Loop& cut = nest_.loops[level_];
  const int64_t start = number % ranges_ * range_;
  const int64_t extent = std::min(range_, cut.extent - start);
  piece.loops.push_back({extent, cut.data, cut.index, cut.output, cut.window});
  for (int l = level_ + 1; l < nest_.loops.size(); ++l) {
    piece.loops.push_back(nest_.loops[l]);
  }
  piece.points = extent * inner_;
  piece.first = (number / ranges_ * cut.extent + start) * inner_;
  const auto step = [&](const Loop& loop, int64_t steps) {
    piece.output += steps * loop.output;
    piece.data += steps * loop.data;
    piece.index += steps * loop.index;
  };
  step(cut, start);
  int64_t outer = number / ranges_;
  for (int l = level_ - 1; l >= 0; --l) {
    step(nest_.loops[l], outer % nest_.loops[l].extent);
    outer /= nest_.loops[l].extent;
  }
  return piece;
}

bool Pieces::next(Piece& piece) {
  if (next_ == count_) {
    return false;
  }
  piece = at(next_++);
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
