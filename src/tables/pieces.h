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
};

class Pieces {
 public:
  // At most `most_points` in each, which is positive; the nest is not empty.
  Pieces(const Nest& nest, int64_t most_points);

  // The next piece, in the order of the loops; false after the last.
  bool next(Piece& piece);

 private:
  bool step_outer();

  const Nest& nest_;
  int level_ = 0;         // the loop that ranges are cut from
  int64_t inner_ = 1;     // points of the loops behind it
  int64_t range_ = 1;     // steps of that loop in a piece, at most
  int64_t at_ = 0;        // of that loop
  Fixed<int64_t> outer_;  // of the loops before it
  int64_t outer_output_ = 0, outer_data_ = 0, outer_index_ = 0;
  bool done_ = false;
};

// Whether the rows of a piece stand side by side in the output, in the order of its points.
bool is_contiguous(const Piece& piece, int64_t row_bytes);

// The bytes of the output, or of a scatter's updates, that a piece covers, from its first row on.
ByteRange covered(const Piece& piece, int64_t row_bytes);

}  // namespace sheaf::tables
