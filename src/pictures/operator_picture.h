// SPDX-License-Identifier: MIT
//
// A gather as a picture: data, indices and output, where equal colours (and equal labels) show
// which element went where. A scatter: updates on the left, indices, and the output on the right.
#pragma once

#include <string>

#include "pictures/scene.h"

namespace sheaf::pictures {

// Data, indices and output, and a sentence that reads one output element aloud.
std::string draw_gather(const Scene& scene, const Style& style);

// Data and indices with the indices that are out of range marked, for a call that fails.
std::string draw_bad_indices(const Plan& plan, const void* data, const void* indices,
                             const Style& style);

// Updates that are skipped stand in parentheses. Where data and updates have values the output
// shows the result; else which updates are reduced there, and in which order: "·+a+c", where · is
// the old element.
std::string draw_scatter(const Scene& scene, const Style& style);

// One or the other, by the plan's operator.
std::string draw_scene(const Scene& scene, const Style& style);

}  // namespace sheaf::pictures
