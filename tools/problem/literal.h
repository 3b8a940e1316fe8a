// SPDX-License-Identifier: MIT
//
// The values of a tensor in a problem string: "{0,1,1,0}" or "{{0,1},{1,0}}".
#pragma once

#include "problem/cursor.h"
#include "problem/problem.h"

namespace sheaf {

// Reads braces at the cursor. Refuses values that the type does not hold, and counts or nestings
// that are not those of the sizes.
Literal parse_literal(Cursor& cursor, const TensorSpec& spec);

}  // namespace sheaf
