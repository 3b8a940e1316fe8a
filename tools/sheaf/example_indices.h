// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "problem/problem.h"

namespace sheaf::cli {

// What fits on a screen of text.
inline constexpr int64_t kMaxExampleElements = 128;

// Indices in range for a plan that came without any, so that there is something to draw. Nothing
// for plans with a tensor of more than `max_elements`, and where an axis has no entries.
std::optional<Literal> example_indices(const Plan& plan,
                                       int64_t max_elements = kMaxExampleElements);

}  // namespace sheaf::cli
