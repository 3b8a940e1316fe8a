// SPDX-License-Identifier: MIT
//
// What backends ask about the shape of a nest.
#pragma once

#include "sheaf/plan.h"

namespace sheaf {

// How often the innermost statement runs.
int64_t point_count(const Nest& nest);

// True if rows at different places of the nest's data never share a byte: each loop and each index
// steps over all that the smaller ones span. Windows that slide over one another do not pass.
bool rows_apart(const Nest& nest);

}  // namespace sheaf
