// SPDX-License-Identifier: MIT
//
// The plan that puts the rows of a piece, which lie side by side on a device, into the output.
#pragma once

#include <optional>

#include "execution/staging.h"
#include "tables/pieces.h"

namespace sheaf::tables {

class Lane;

// data: `rows` rows side by side. indices: for each point of the piece, i32, the number of its row,
// or kNoRow for one that is filled. output: from the first row of the piece on.
inline constexpr int32_t kNoRow = -1;
// Rows of a piece, slots of a cache and points of a cached call are numbered in 32 bits.
inline constexpr int64_t kMostNumberedRows = int64_t{1} << 30;
Plan plan_of_piece(const Plan& plan, const Piece& piece, int64_t rows);

// The same from the table itself: indices have, for each point, i64, the number of the table's
// element that its row begins with, or kNoRow.
Plan plan_of_windows_piece(const Plan& plan, const Piece& piece);

// Lane::move_rows() by a gather and a scatter.
void move_by_plans(Lane& lane, const NumberedRows& rows, DType type);

// Keeps the last: all pieces of a call but the last are of one shape.
class PiecePlans {
 public:
  const Plan& get(const Plan& plan, const Piece& piece, int64_t rows);

 private:
  std::optional<Plan> last_;
  Fixed<Loop> loops_;
  int64_t rows_ = 0;
};

}  // namespace sheaf::tables
