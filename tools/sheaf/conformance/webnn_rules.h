// SPDX-License-Identifier: MIT
//
// WebNN's rules where they are stricter than ours. Cases marked "shapes_only" come from WebNN's
// validation tests and are held to these rules first.
#pragma once

#include <string>

#include "plan/request.h"

namespace sheaf::cli {

// Why WebNN refuses the request; empty if it has no rule against it.
std::string webnn_refusal(const Request& request);

}  // namespace sheaf::cli
