// SPDX-License-Identifier: MIT
//
// Problem strings: an operator call as one line of text, the same on the command line, in case
// files and in bug reports.
//
//   gather f32[1000000,64] i64[4096] axis=0
//   gather_elements f32[3,5] i64[2,5] axis=0 negative=out_of_range out_of_range=clamp
//   gather_nd f32[2,2,2]={0,1,2,3,4,5,6,7} i32[2,2]={{0,1},{1,0}}
//   scatter f32[4,2] i64[3] f32[3,2] axis=0 reduction=add include_self=0
//
// That is: operator, data, indices, a scatter's updates, then attributes in any order. A tensor is
// its type and its sizes, and may be followed by its values in row-major order; braces may nest as
// the sizes do, or not at all. Updates may be left out (not of xla_scatter): then they are those
// that the operator takes. The operator may have the name of another library ("torch.gather
// f32[2,3] i64[2,2] dim=1"), which brings its index rule. docs/cli.md has the whole grammar.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "pictures/names.h"
#include "plan/request.h"

namespace sheaf {

// The values of a tensor: packed elements of its type, row-major.
using Literal = std::vector<std::byte>;

struct Problem {
  Request request;
  const pictures::Name* name = nullptr;  // of another library, if the operator has one there
  std::optional<Literal> data, indices, updates;
};

// Throws Error naming the token that is wrong, its column, and what could stand there instead.
// Whether the shapes fit together is for make_plan to say.
Problem parse_problem(std::string_view text);

}  // namespace sheaf
