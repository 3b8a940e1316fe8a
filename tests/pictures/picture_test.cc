// SPDX-License-Identifier: MIT
#include "pictures/picture.h"

#include <gtest/gtest.h>

namespace sheaf::pictures {
namespace {

Grid numbers(const std::string& title, const Dims& sizes) {
  return {title, sizes, [](int64_t e) { return Cell{std::to_string(e), kPlain}; }};
}

TEST(Picture, OfNoElements) {
  EXPECT_EQ(draw({numbers("none", {2, 0})}, {}), "none\n(no elements)\n");
}

TEST(Picture, OfAScalar) { EXPECT_EQ(draw({numbers("one", {})}, {}), "one\n  │ 0\n"); }

TEST(Picture, OfAVectorAndAMatrixSideBySide) {
  EXPECT_EQ(draw({numbers("v", {3}), numbers("m", {2, 6})}, {}),
            "v               m\n"
            "    0  1  2           0   1   2   3   4   5\n"
            "  │ 0  1  2      0 │  0   1   2   3   4   5\n"
            "                 1 │  6   7   8   9  10  11\n");
}

TEST(Picture, StacksWhatIsTooWide) {
  EXPECT_EQ(draw({numbers("v", {2}), numbers("w", {2})}, {.color = false, .width = 12}),
            "v\n    0  1\n  │ 0  1\n\nw\n    0  1\n  │ 0  1\n");
}

TEST(Picture, DrawsBlocksBelowEachOther) {
  EXPECT_EQ(draw({numbers("t", {2, 1, 2})}, {}),
            "t\n"
            "[0, :, :]\n"
            "     0  1\n"
            " 0 │ 0  1\n"
            "[1, :, :]\n"
            "     0  1\n"
            " 0 │ 2  3\n");
}

TEST(Picture, SaysWhatIsCut) {
  const std::string wide = draw({numbers("wide", {1000})}, {.color = false, .width = 30});
  EXPECT_TRUE(wide.ends_with("\n… 991 more columns\n")) << wide;
  const std::string tall = draw({numbers("tall", {13, 17})}, {.color = false, .width = 200});
  EXPECT_TRUE(tall.ends_with("\n… 1 more row, 1 more column\n")) << tall;
  const std::string deep = draw({numbers("deep", {2, 3, 1, 1})}, {});
  EXPECT_TRUE(deep.ends_with("\n… 2 more blocks\n")) << deep;
}

TEST(Picture, OfHugeSizesLooksAtTheShownCellsOnly) {
  int64_t largest = 0;
  const Grid grid{"huge", {int64_t{1} << 20, int64_t{1} << 40}, [&](int64_t e) {
                    largest = std::max(largest, e);
                    return Cell{"x", kPlain};
                  }};
  const std::string text = draw({grid}, {});
  EXPECT_TRUE(text.ends_with("… 1,048,564 more rows, 1,099,511,627,760 more columns\n")) << text;
  EXPECT_EQ(largest, (int64_t{11} << 40) + 15);
}

TEST(Picture, PaintsCellsAndHeaders) {
  const Style style{.color = true, .width = 80};
  EXPECT_EQ(paint(style, kPlain, "x"), "x");
  EXPECT_EQ(paint(style, kFaint, "x"), "\033[2mx\033[0m");
  EXPECT_EQ(paint(style, kWrong, "x"), "\033[97;41mx\033[0m");
  EXPECT_EQ(paint(style, 0, "x"), "\033[30;48;5;117mx\033[0m");
  EXPECT_EQ(paint(style, 10, "x"), paint(style, 0, "x"));
  EXPECT_NE(paint(style, 1, "x"), paint(style, 0, "x"));
  EXPECT_EQ(paint({}, 0, "x"), "x");
  const Grid grid{"g",
                  {1},
                  [](int64_t) {
                    return Cell{"a", 2};
                  },
                  [](int, int64_t) { return Color{1}; }};
  const std::string text = draw({grid}, style);
  EXPECT_NE(text.find(paint(style, 2, " a ")), std::string::npos) << text;
  EXPECT_NE(text.find(paint(style, 1, " 0 ")), std::string::npos) << text;
}

}  // namespace
}  // namespace sheaf::pictures
