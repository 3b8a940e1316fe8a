// SPDX-License-Identifier: MIT
//
// The report on bad indices. Off the fast path: a backend only says that there is one.
#pragma once

#include <string>
#include <string_view>

#include "plan/request.h"

namespace sheaf {

struct BadIndex {
  Dims position;      // of the first, in row-major order
  std::string value;  // as it stands there
  int component = 0;  // of its tuple
  int64_t count = 0;  // of all bad ones
};

// What such an error advises. Front ends in which options are written in another way compare with
// these, and say it in their own.
inline constexpr std::string_view kGatherAdvice = "out_of_range = clamp or fill";
inline constexpr std::string_view kScatterAdvice = "out_of_range = clamp or skip";

// Throws the IndexError that says all this.
[[noreturn]] void throw_bad_index(const Plan& plan, const BadIndex& bad);

// Walks `indices` in row-major order and throws IndexError for the first that is out of range.
// Returns if there is none.
void throw_first_bad_index(const Plan& plan, const void* indices);

// Throws IndexError if there are indices into an axis without entries: no rule gives them a value.
void refuse_empty_axis(const Request& request, const Nest& nest);

}  // namespace sheaf
