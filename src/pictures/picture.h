// SPDX-License-Identifier: MIT
//
// Tensors as grids of coloured cells, side by side where the terminal is wide enough. What does not
// fit is cut, and the cut says how much is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sheaf/fixed.h"

namespace sheaf::pictures {

// A colour of the palette, which repeats after its last; or one of these.
using Color = int64_t;
inline constexpr Color kPlain = -1;  // no colour
inline constexpr Color kFaint = -2;  // there, but of no interest
inline constexpr Color kFill = -3;   // did not come from data
inline constexpr Color kWrong = -4;  // out of range

struct Cell {
  std::string text;
  Color color = kPlain;
};

// The last dimension runs to the right, the one before it down; the others are drawn one block
// below the other.
struct Grid {
  std::string title;
  Dims sizes;
  std::function<Cell(int64_t element)> cell;  // `element` counts row-major
  // The colour of the number beside row, or above column, `coordinate` of dimension `dim`.
  std::function<Color(int dim, int64_t coordinate)> header = [](int, int64_t) { return kPlain; };
};

struct Style {
  bool color = false;
  int width = 80;
};

// `text` in `color`, if the style has colours.
std::string paint(const Style& style, Color color, const std::string& text);

// Lines, each ending in a newline.
std::string draw(const std::vector<Grid>& grids, const Style& style);

}  // namespace sheaf::pictures
