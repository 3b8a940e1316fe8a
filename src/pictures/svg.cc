// SPDX-License-Identifier: MIT
#include "pictures/svg.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::pictures {
namespace {

// Pixels of one character, at 14 px in any monospaced font.
constexpr double kColumn = 8.43, kLine = 22, kMargin = 16;

// Inside another page (a notebook) text takes the page's colour and nothing of the page changes; a
// picture that is a document has its own colours, for readers of light and of dark pages.
constexpr const char* kStyle =
    "svg.sheaf:root{color:#1f2328}"
    "@media(prefers-color-scheme:dark){svg.sheaf:root{color:#e6edf3}}"
    ".sheaf text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
    "fill:currentColor}"
    ".sheaf .f{opacity:.65}.sheaf .c{fill:#111}.sheaf .w{fill:#fff}";

// A run of characters in one style.
struct Run {
  std::string text;
  int column = 0;
  int background = -1;  // of the 256-colour palette; -1: none
  bool faint = false, wrong = false;
};

// Colour n of the terminal's 6x6x6 cube or grey ramp, as CSS.
std::string color_text(int n) {
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  int red = 0, green = 0, blue = 0;
  if (n >= 232) {
    red = green = blue = 8 + 10 * (n - 232);
  } else if (n >= 16) {
    red = level((n - 16) / 36);
    green = level((n - 16) / 6 % 6);
    blue = level((n - 16) % 6);
  }
  return cat("rgb(", red, ",", green, ",", blue, ")");
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// Applies an escape sequence such as "30;48;5;117".
void apply_codes(const std::string& codes, Run& style) {
  style.background = -1;
  style.faint = codes == "2";
  style.wrong = codes == "97;41";
  const size_t at = codes.find("48;5;");
  if (at != std::string::npos) {
    std::from_chars(codes.data() + at + 5, codes.data() + codes.size(), style.background);
  }
}

std::vector<Run> runs_of(const std::string& line) {
  std::vector<Run> runs;
  Run style;
  for (size_t at = 0; at < line.size();) {
    const size_t escape = std::min(line.find("\033[", at), line.size());
    if (escape > at) {
      style.text = line.substr(at, escape - at);
      runs.push_back(style);
      style.column += text_width(style.text);
    }
    if (escape == line.size()) {
      break;
    }
    const size_t end = line.find('m', escape);
    apply_codes(line.substr(escape + 2, end - escape - 2), style);
    at = end + 1;
  }
  return runs;
}

std::string box(const Run& run, double y) {
  return cat("<rect x=\"", kMargin + run.column * kColumn + 1, "\" y=\"", y + 1, "\" width=\"",
             text_width(run.text) * kColumn - 2, "\" height=\"", kLine - 2, "\" rx=\"3\" fill=\"",
             run.wrong ? "#c62828" : color_text(run.background), "\"/>\n");
}

std::string text_at(double x, double y, const char* attributes, const std::string& text) {
  return cat("<text x=\"", x, "\" y=\"", y + kLine * 0.7, "\"", attributes, ">", escaped(text),
             "</text>\n");
}

// The words of a run, each where it stands: viewers disagree about rows of spaces. A cell's text
// stands in the middle of its box.
std::string labels(const Run& run, double y) {
  const bool cell = run.background >= 0 || run.wrong;
  const char* attributes = run.wrong   ? " class=\"w\" text-anchor=\"middle\""
                           : cell      ? " class=\"c\" text-anchor=\"middle\""
                           : run.faint ? " class=\"f\""
                                       : "";
  std::string out;
  const std::string& text = run.text;
  for (size_t at = text.find_first_not_of(' '); at != std::string::npos;) {
    const size_t end =
        cell ? text.find_last_not_of(' ') + 1 : std::min(text.find(' ', at), text.size());
    const double column =
        run.column + (cell ? text_width(text) / 2.0 : text_width(text.substr(0, at)));
    out += text_at(kMargin + column * kColumn, y, attributes, text.substr(at, end - at));
    at = text.find_first_not_of(' ', end);
  }
  return out;
}

}  // namespace

std::string svg_of(const std::string& text) {
  std::istringstream lines(text);
  std::string body;
  int columns = 0;
  double y = kMargin;
  for (std::string line; std::getline(lines, line); y += kLine) {
    for (const Run& run : runs_of(line)) {
      if (run.background >= 0 || run.wrong) {
        body += box(run, y);
      }
      body += labels(run, y);
      columns = std::max(columns, run.column + text_width(run.text));
    }
  }
  const double width = columns * kColumn + 2 * kMargin, height = y + kMargin;
  const std::string first_line = text.substr(0, text.find('\n'));
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sheaf\" viewBox=\"0 0 ", width, " ",
             height, "\" width=\"", width, "\" height=\"", height,
             "\" style=\"max-width:100%;height:auto\" role=\"img\" aria-label=\"",
             escaped(first_line), "\">\n<style>", kStyle, "</style>\n", body, "</svg>\n");
}

}  // namespace sheaf::pictures
