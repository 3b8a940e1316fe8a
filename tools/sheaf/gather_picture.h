// SPDX-License-Identifier: MIT
//
// A gather as a picture: data, indices and output, where equal colours (and equal labels) show
// which element went where.
#pragma once

#include <string>

#include "scene.h"

namespace sheaf::cli {

// Data, indices and output, and a sentence that reads one output element aloud.
std::string draw_gather(const Scene& scene, const Style& style);

// Data and indices with the indices that are out of range marked, for a call that fails.
std::string draw_bad_indices(const Plan& plan, const Literal* data, const Literal& indices,
                             const Style& style);

}  // namespace sheaf::cli
