// SPDX-License-Identifier: MIT
#include "pictures/picture.h"

#include <algorithm>
#include <iterator>

#include "sheaf/tensor.h"
#include "support/number_text.h"
#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::pictures {
namespace {

// Nobody reads more of a tensor than this.
constexpr int64_t kMaxColumns = 16;
constexpr int64_t kMaxRows = 12;
constexpr int64_t kMaxBlocks = 4;
constexpr int kGap = 4;  // columns between grids

// Backgrounds of the 256-colour palette that carry black text, neighbours well apart.
constexpr int kPalette[] = {117, 222, 150, 218, 183, 229, 80, 209, 146, 108};

// A line whose width is not its length: colours and UTF-8 take no columns.
struct Line {
  std::string text;
  int width = 0;
};
using Lines = std::vector<Line>;

std::string padded(const std::string& text, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - text_width(text))), ' ') + text;
}

// One grid as it is drawn: which part, and how wide a cell is.
class GridWriter {
 public:
  GridWriter(const Grid& grid, const Style& style)
      : grid_(grid),
        style_(style),
        rank_(grid.sizes.size()),
        rows_(rank_ < 2 ? 1 : grid.sizes[rank_ - 2]),
        columns_(rank_ < 1 ? 1 : grid.sizes[rank_ - 1]),
        shown_rows_(std::min(rows_, kMaxRows)),
        shown_columns_(std::min(columns_, kMaxColumns)) {
    blocks_ = 1;
    for (int d = 0; d < rank_ - 2; ++d) {
      blocks_ *= grid.sizes[d];
    }
    shown_blocks_ = std::min(blocks_, kMaxBlocks);
  }

  Lines write() {
    add(grid_.title);
    if (element_count(grid_.sizes) == 0) {
      add("(no elements)");
      return lines_;
    }
    measure();
    for (int64_t block = 0; block < shown_blocks_; ++block) {
      write_block(block);
    }
    write_cut();
    return lines_;
  }

 private:
  void add(const std::string& text) { lines_.push_back({text, text_width(text)}); }

  int64_t element(int64_t block, int64_t row, int64_t column) const {
    return (block * rows_ + row) * columns_ + column;
  }

  // As many columns as the style is wide, and as wide as their widest text.
  void measure() {
    row_number_ = rank_ < 2 ? 0 : text_width(std::to_string(shown_rows_ - 1));
    const int64_t room = style_.width - (row_number_ + 3);
    for (int64_t column = 0; column < shown_columns_; ++column) {
      const int needed = std::max(cell_, column_width(column));
      if (column > 0 && (column + 1) * (needed + 2) > room) {
        shown_columns_ = column;
        break;
      }
      cell_ = needed;
    }
  }

  int column_width(int64_t column) const {
    int width = text_width(std::to_string(column));
    for (int64_t block = 0; block < shown_blocks_; ++block) {
      for (int64_t row = 0; row < shown_rows_; ++row) {
        width = std::max(width, text_width(grid_.cell(element(block, row, column)).text));
      }
    }
    return width;
  }

  void append(Line& line, Color color, const std::string& text) const {
    const std::string shown = cat(" ", padded(text, cell_), " ");
    line.text += paint(style_, color, shown);
    line.width += text_width(shown);
  }

  void write_block(int64_t block) {
    if (rank_ > 2) {
      write_block_title(block);
    }
    if (rank_ > 0) {
      write_column_numbers();
    }
    for (int64_t row = 0; row < shown_rows_; ++row) {
      Line line{paint(style_, kFaint, "  │"), 3};
      if (rank_ > 1) {
        const std::string number = cat(" ", padded(std::to_string(row), row_number_), " ");
        line = {paint(style_, header_color(rank_ - 2, row), number) + paint(style_, kFaint, "│"),
                row_number_ + 3};
      }
      for (int64_t column = 0; column < shown_columns_; ++column) {
        const Cell cell = grid_.cell(element(block, row, column));
        append(line, cell.color, cell.text);
      }
      lines_.push_back(line);
    }
  }

  // "[1, :, :]": where the block lies in the leading dimensions.
  void write_block_title(int64_t block) {
    Dims position(rank_ - 2, 0);
    Color color = kFaint;
    for (int d = rank_ - 3; d >= 0; --d) {
      position[d] = block % grid_.sizes[d];
      block /= grid_.sizes[d];
      color = std::max(color, grid_.header(d, position[d]));
    }
    std::string text = bracketed(position);
    text.pop_back();
    text += ", :, :]";
    lines_.push_back({paint(style_, color, text), text_width(text)});
  }

  void write_column_numbers() {
    const int indent = row_number_ + 3;
    Line line{std::string(static_cast<size_t>(indent), ' '), indent};
    for (int64_t column = 0; column < shown_columns_; ++column) {
      append(line, header_color(rank_ - 1, column), std::to_string(column));
    }
    lines_.push_back(line);
  }

  Color header_color(int dim, int64_t coordinate) const {
    const Color color = grid_.header(dim, coordinate);
    return color == kPlain ? kFaint : color;
  }

  void write_cut() {
    std::string cut;
    const auto more = [&](int64_t count, const char* one, const char* many) {
      if (count > 0) {
        cut += cat(cut.empty() ? "… " : ", ", grouped(count), " more ", count == 1 ? one : many);
      }
    };
    more(rows_ - shown_rows_, "row", "rows");
    more(columns_ - shown_columns_, "column", "columns");
    more(blocks_ - shown_blocks_, "block", "blocks");
    if (!cut.empty()) {
      add(cut);
    }
  }

  const Grid& grid_;
  const Style& style_;
  int rank_;
  int64_t rows_, columns_, shown_rows_, shown_columns_, blocks_, shown_blocks_;
  int row_number_ = 0, cell_ = 0;
  Lines lines_;
};

int width_of(const Lines& lines) {
  int width = 0;
  for (const Line& line : lines) {
    width = std::max(width, line.width);
  }
  return width;
}

// Cells end in a space, which at the end of a line shows only where it is coloured.
std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string below_each_other(const std::vector<Lines>& grids) {
  std::string text;
  for (const Lines& grid : grids) {
    text += text.empty() ? "" : "\n";
    for (const Line& line : grid) {
      text += without_trailing_spaces(line.text) + "\n";
    }
  }
  return text;
}

std::string side_by_side(const std::vector<Lines>& grids) {
  size_t height = 0;
  for (const Lines& grid : grids) {
    height = std::max(height, grid.size());
  }
  std::string text;
  for (size_t row = 0; row < height; ++row) {
    std::string joined;
    for (const Lines& grid : grids) {
      const Line line = row < grid.size() ? grid[row] : Line{};
      joined +=
          line.text + std::string(static_cast<size_t>(width_of(grid) - line.width + kGap), ' ');
    }
    text += without_trailing_spaces(joined) + "\n";
  }
  return text;
}

}  // namespace

std::string paint(const Style& style, Color color, const std::string& text) {
  if (!style.color || color == kPlain) {
    return text;
  }
  std::string code = "30;48;5;";
  switch (color) {
    case kFaint: code = "2"; break;
    case kFill: code += "250"; break;
    case kWrong: code = "97;41"; break;
    default: code += std::to_string(kPalette[color % std::ssize(kPalette)]);
  }
  return cat("\033[", code, "m", text, "\033[0m");
}

std::string draw(const std::vector<Grid>& grids, const Style& style) {
  std::vector<Lines> drawn;
  int width = -kGap;
  for (const Grid& grid : grids) {
    drawn.push_back(GridWriter(grid, style).write());
    width += width_of(drawn.back()) + kGap;
  }
  return width <= style.width ? side_by_side(drawn) : below_each_other(drawn);
}

}  // namespace sheaf::pictures
