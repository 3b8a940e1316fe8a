// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "plan/request.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "sheaf/gather.h"
#include "sheaf/scatter.h"

namespace sheaf {
namespace {

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(SvgPicture, HasTheValuesAndTheFormula) {
  const float data[] = {1.5F, -2.25F, 3, 4};
  const int64_t indices[] = {1, 0};
  const Plan plan = plan_gather({f32, {2, 2}}, {i64, {2}});
  const std::string svg = svg_picture(plan, {.data = data, .indices = indices});
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sheaf\" viewBox=", 0), 0U);
  EXPECT_NE(svg.find("aria-label=\"gather   output[i, j] = data[indices[i], j]\""),
            std::string::npos);
  // In data and in the output.
  EXPECT_EQ(count_of(svg, ">1.5</text>"), 2U);
  EXPECT_EQ(count_of(svg, ">-2.25</text>"), 2U);
}

// A style in a page is the page's: ours must not reach beyond the picture.
TEST(SvgPicture, StylesOnlyItself) {
  const int64_t indices[] = {1, 0};
  const std::string svg = svg_picture(plan_gather({f32, {2, 2}}, {i64, {2}}), {.indices = indices});
  const size_t begin = svg.find("<style>") + 7;
  std::string style = svg.substr(begin, svg.find("</style>") - begin);
  for (size_t open = style.find('{'); open != std::string::npos; open = style.find('{', open + 1)) {
    const size_t end = style.find_last_of("}{", open - 1);
    const std::string selector = style.substr(end + 1, open - end - 1);
    EXPECT_TRUE(selector.find(".sheaf") != std::string::npos || selector[0] == '@') << selector;
  }
  EXPECT_EQ(svg.find("fill=\"#fff\""), std::string::npos) << "a white box on a dark page";
}

TEST(SvgPicture, IsTheSameWhateverTheStrides) {
  const float rows[] = {1, 2, 3, 4, 5, 6};
  const float columns[] = {1, 4, 2, 5, 3, 6};
  const int64_t indices[] = {1, 0, 1};
  const int64_t reversed[] = {1, 0, 1, 0, 1};
  const Plan plain = plan_gather({f32, {2, 3}}, {i64, {3}});
  const Plan strided = plan_gather({f32, {2, 3}, {1, 2}}, {i64, {3}, {-2}});
  const int64_t spread[] = {1, 7, 0, 7, 1};
  EXPECT_EQ(svg_picture(plain, {.data = rows, .indices = indices}),
            svg_picture(strided, {.data = columns, .indices = spread + 4}));
  EXPECT_NE(svg_picture(plain, {.data = rows, .indices = reversed + 1}),
            svg_picture(plain, {.data = rows, .indices = indices}));
}

TEST(SvgPicture, ShowsTheResultOfAScatter) {
  const float data[] = {10, 20, 30}, updates[] = {1, 2};
  const int64_t indices[] = {2, 2};
  const Plan plan = plan_scatter({f32, {3}}, {i64, {2}}, {f32, {2}}, TensorSpec(f32, {3}, {-1}),
                                 {.reduction = Reduction::kAdd});
  const std::string svg = svg_picture(plan, {.data = data, .indices = indices, .updates = updates});
  EXPECT_EQ(count_of(svg, ">33</text>"), 1U) << svg;
  EXPECT_EQ(count_of(svg, ">20</text>"), 1U) << svg;
}

TEST(SvgPicture, Refuses) {
  try {
    svg_picture(plan_gather({f32, {1000, 64}}, {i64, {4096}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "explain: no picture\n"
                 "  there are no indices, or too many\n"
                 "  try: a smaller shape, with indices as in i64[4]={3,1,0,2}");
  }
  try {
    svg_picture(plan_gather({f32, {4, 1024}}, {i64, {1025}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "explain: no picture\n"
                 "  the output has 1,049,600 elements, more than 1,048,576\n"
                 "  try: a smaller shape, with indices as in i64[4]={3,1,0,2}");
  }
  const int64_t bad[] = {5};
  EXPECT_THROW(svg_picture(plan_gather({f32, {4}}, {i64, {1}}), {.indices = bad}), IndexError);
}

}  // namespace
}  // namespace sheaf
