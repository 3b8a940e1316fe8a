// SPDX-License-Identifier: MIT
//
// From the words of a case to a request of the library.
#pragma once

#include "conformance/case.h"
#include "conformance/values.h"
#include "plan/request.h"

namespace sheaf::cli {

// Throws Malformed or Unsupported where the case is at fault, sheaf::Error where the library
// refuses its shapes.
Request case_request(const Case& c, ValueReader& values);

// A shape of a case as the library's sizes; throws sheaf::Error above the highest rank.
Dims case_sizes(const std::vector<int64_t>& shape);

}  // namespace sheaf::cli
