// SPDX-License-Identifier: MIT
//
// Problem strings of gathers from tables that lie anywhere (docs/tables.md):
//
//   table f32[6,2] i64[5]={4,1,4,0,5} from=file to=gpu
//   table f32[6,2] i64[5]={4,1,4,0,5} to=gpu piece_rows=2 cached=i64[1]={4}
//
// That is: data, indices along its first axis, then attributes in any order.
#pragma once

#include <string_view>

#include "pictures/journey.h"
#include "problem/problem.h"

namespace sheaf {

struct TableText {
  Problem problem;
  pictures::Journey journey;
};

// Whether the first word is "table".
bool is_table_text(std::string_view text);

// Throws Error as parse_problem does, and where no way takes the call.
TableText parse_table(std::string_view text);

}  // namespace sheaf
