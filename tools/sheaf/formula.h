// SPDX-License-Identifier: MIT
//
// An operator in one line: "output[i, j] = data[indices[i, j], j]".
#pragma once

#include <string>

#include "plan/request.h"

namespace sheaf::cli {

// `request` is that of a plan: its output is known.
std::string formula(const Request& request);

// What the operator does, in a few words.
std::string summary(Op op);

}  // namespace sheaf::cli
