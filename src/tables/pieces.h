// SPDX-License-Identifier: MIT
//
// A nest cut into pieces of consecutive points, each of which is a nest again.
#pragma once

#include "sheaf/plan.h"

namespace sheaf::tables {

struct Piece {
  Fixed<Loop> loops;   // the last loops of the nest, the first of them over a range
  int64_t points = 0;  // the product of their extents
  int64_t output = 0;  // bytes from the start of the output to its first row
  int64_t data = 0;    // the same of the part of the data that loops walk
  int64_t index = 0;   // elements from the start of the indices to its first
  int64_t first = 0;   // points of the nest before it
};

class Pieces {
 public:
  // At most `most_points` in each, which is positive; the nest is not empty.
  Pieces(const Nest& nest, int64_t most_points);

  int64_t count() const { return count_; }
  // Of all of them, in the order of the loops.
  Piece at(int64_t number) const;
  // The next piece; false after the last.
  bool next(Piece& piece);

 private:
  const Nest& nest_;
  int level_ = 0;       // the loop that ranges are cut from
  int64_t inner_ = 1;   // points of the loops behind it
  int64_t range_ = 1;   // steps of that loop in a piece, at most
  int64_t ranges_ = 1;  // that its extent is cut into
  int64_t count_ = 1;   // of the pieces
  int64_t next_ = 0;
};

// Whether the rows of a piece stand side by side in the output, in the order of its points.
bool is_contiguous(const Piece& piece, int64_t row_bytes);

// The bytes of the output, or of a scatter's updates, that a piece covers, from its first row on.
ByteRange covered(const Piece& piece, int64_t row_bytes);

}  // namespace sheaf::tables
