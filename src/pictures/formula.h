// SPDX-License-Identifier: MIT
//
// An operator in one line: "output[i, j] = data[indices[i, j], j]".
#pragma once

#include <string>

#include "plan/request.h"

namespace sheaf::pictures {

// `request` is that of a plan: its output is known.
std::string formula(const Request& request);

// The same at one element of the output, or of a scatter's updates: "output[0, 1] =
// data[indices[0, 1], 1]".
std::string formula_at(const Request& request, const Dims& position);

// What the operator does, in a few words.
std::string summary(Op op);

}  // namespace sheaf::pictures
