// SPDX-License-Identifier: MIT
//
// A scatter as a picture: updates on the left, indices, and the output that they go to on the
// right.
#pragma once

#include <string>

#include "scene.h"

namespace sheaf::cli {

// Updates that are skipped stand in parentheses. Where data and updates have values the output
// shows the result; else which updates are reduced there, and in which order: "·+a+c", where · is
// the old element.
std::string draw_scatter(const Scene& scene, const Style& style);

// One or the other, by the plan's operator.
std::string draw_scene(const Scene& scene, const Style& style);

}  // namespace sheaf::cli
