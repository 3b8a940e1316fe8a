// SPDX-License-Identifier: MIT
//
// The way of rows from a table to an output, as a picture: the table where it lies, the pieces in
// which rows travel, the rows that a device keeps, and the output. docs/tables.md has the words.
#pragma once

#include <string>

#include "pictures/journey.h"
#include "pictures/scene.h"

namespace sheaf::pictures {

// A gather of rows along axis 0, and a sentence about one of them. A way takes it.
std::string draw_table(const Scene& scene, const Journey& journey, const Style& style);

// The same as SVG, under its title.
std::string table_svg(const Scene& scene, const Journey& journey);

}  // namespace sheaf::pictures
