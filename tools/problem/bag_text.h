// SPDX-License-Identifier: MIT
//
// Problem strings of bags:
//
//   bag f32[1000,64] i64[20] offsets=i64[4]
//   bag row_u8_f32[1000,64] i64[4,5] pool=mean weights=f32[4,5]
//   bag f32[5,2] lengths=i64[2]={2,3} pool=max
//
// That is: data, indices (none: rows are pooled in order), then attributes in any order. Data may
// have the name of an encoding in place of a type; with scales beside it they are an attribute.
#pragma once

#include <optional>
#include <string_view>

#include "plan/bag.h"
#include "problem/problem.h"

namespace sheaf {

struct BagText {
  BagRequest request;
  std::optional<Literal> data, indices, segments, weights;
};

// Whether the first word is "bag".
bool is_bag_text(std::string_view text);

// Throws Error as parse_problem does.
BagText parse_bag(std::string_view text);

}  // namespace sheaf
