// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "problem/problem.h"

namespace sheaf::cli {

// Indices in range for a plan that came without any, so that there is something to draw. Nothing
// for tensors that are too large to be read as a picture.
std::optional<Literal> example_indices(const Plan& plan);

}  // namespace sheaf::cli
