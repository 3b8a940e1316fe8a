// SPDX-License-Identifier: MIT
//
// The plan that puts the rows of a piece, which lie side by side on a device, into the output.
#pragma once

#include <optional>

#include "tables/pieces.h"

namespace sheaf::tables {

// data: `rows` rows side by side. indices: for each point of the piece, i32, the number of its row,
// or kNoRow for one that is filled. output: from the first row of the piece on.
inline constexpr int32_t kNoRow = -1;
Plan plan_of_piece(const Plan& plan, const Piece& piece, int64_t rows);

// The same from the table itself: indices have, for each point, i64, the number of the table's
// element that its row begins with, or kNoRow.
Plan plan_of_windows_piece(const Plan& plan, const Piece& piece);

// In place: data, of `slots` rows of the same kind. indices: for each of `rows` rows, i32, its
// slot, or kNoRow for one that is left out. updates: those rows, side by side.
Plan plan_of_admission(const Plan& plan, int64_t slots, int64_t rows);

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
