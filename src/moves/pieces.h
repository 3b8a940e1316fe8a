// SPDX-License-Identifier: MIT
//
// Moves that are copies: a copy is a gather_nd whose tuples are empty, so that each point of the
// nest reads where its loops stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "moves/moves.h"
#include "sheaf/plan.h"
#include "sheaf/tensor.h"

namespace sheaf::moves {

// One copy: bytes from an input to an output.
struct Piece {
  Plan plan;
  size_t input, output;
  int64_t from_bytes, to_bytes;  // where they start
};

Plan copy_plan(const char* who, const TensorSpec& from, const TensorSpec& to);

// Runs a copy. It has no indices; the address of the data stands for theirs.
void run_copy(const Plan& plan, const void* from, void* to, const Queue& queue);

// The copies one after the other. They look at their own memory only: checked() looks at all of it
// first.
Work run_pieces(std::vector<Piece> pieces);

// The first, then the second into the same output.
Work in_order(Work first, Work second);

// Where `part` starts in `whole`, in bytes; 0 if it has no elements, whose place may be anywhere.
int64_t byte_offset(const TensorSpec& whole, const TensorSpec& part, const Dims& start);

}  // namespace sheaf::moves
