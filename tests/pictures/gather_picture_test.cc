// SPDX-License-Identifier: MIT
#include "pictures/operator_picture.h"

#include <gtest/gtest.h>

#include "problem/problem.h"

namespace sheaf::pictures {
namespace {

std::string drawn_gather(const char* text, const Style& style = {}) {
  const Problem problem = parse_problem(text);
  const Plan plan = make_plan(problem.request);
  const std::vector<ElementSource> map =
      element_map(plan, {problem.indices->data(), plan.indices()});
  return draw_gather(
      {plan, problem.data ? problem.data->data() : nullptr, problem.indices->data(), map}, style);
}

std::string described(const char* text, int64_t element) {
  const Problem problem = parse_problem(text);
  const Plan plan = make_plan(problem.request);
  const std::vector<ElementSource> map =
      element_map(plan, {problem.indices->data(), plan.indices()});
  return describe_element({plan, nullptr, problem.indices->data(), map}, element);
}

TEST(GatherPicture, NamesElementsByLetters) {
  EXPECT_EQ(drawn_gather("gather f32[3,2] i64[2]={2,-3} axis=0"),
            "data f32[3, 2], axis 0 ↓    indices i64[2]    output f32[2, 2]\n"
            "     0  1                        0   1             0  1\n"
            " 0 │ a  b                     │  2  -3         0 │ e  f\n"
            " 1 │ c  d                                      1 │ a  b\n"
            " 2 │ e  f\n"
            "\n"
            "for example  output[0, 0] = data[2, 0]   because indices[0] = 2\n");
}

TEST(GatherPicture, ShowsValuesWhereTheyAreGiven) {
  EXPECT_EQ(drawn_gather("gather f32[2,2]={1.5,2,3,4} i64[1]={1} axis=1"),
            "data f32[2, 2], axis 1 →    indices i64[1]    output f32[2, 1]\n"
            "       0    1                   0                  0\n"
            " 0 │ 1.5    2                 │ 1              0 │ 2\n"
            " 1 │   3    4                                  1 │ 4\n"
            "\n"
            "for example  output[0, 0] = data[0, 1]   because indices[0] = 1\n");
}

TEST(GatherPicture, NamesEqualValuesUnlessColorsTellThemApart) {
  const char* problem = "gather f32[3]={7,7,8} i64[1]={1}";
  EXPECT_NE(drawn_gather(problem).find("a:7  b:7  c:8"), std::string::npos)
      << drawn_gather(problem);
  EXPECT_EQ(drawn_gather(problem, {.color = true, .width = 80}).find("b:7"), std::string::npos);
}

TEST(GatherPicture, NumbersManyElements) {
  EXPECT_NE(drawn_gather("gather f32[60] i64[1]={59}").find("#59"), std::string::npos);
}

TEST(GatherPicture, ShowsTheFillValue) {
  const std::string text =
      drawn_gather("gather f32[2] i64[2]={5,1} out_of_range=fill fill_value=-1");
  EXPECT_NE(text.find("-1   b\n"), std::string::npos) << text;
}

TEST(GatherPicture, OfNothing) {
  const std::string text = drawn_gather("gather f32[2] i64[0]={}");
  EXPECT_NE(text.find("(no elements)"), std::string::npos) << text;
  EXPECT_EQ(text.find("for example"), std::string::npos) << text;
}

// An index, its row of data, and where that row went have one colour; what nobody picks is faint.
TEST(GatherPicture, PaintsOneColorPerIndex) {
  const Style style{.color = true, .width = 80};
  const std::string text = drawn_gather("gather f32[3,1] i64[2]={2,0} axis=0", style);
  const std::string bar = paint(style, kFaint, "│");
  for (const std::string& piece : {
           paint(style, 0, " 0 ") + bar + paint(style, 0, " a "),
           paint(style, kFaint, " 1 ") + bar + paint(style, kFaint, " b "),
           paint(style, 2, " 2 ") + bar + paint(style, 2, " c "),
           paint(style, kFaint, "  │") + paint(style, 2, " 2 ") + paint(style, 0, " 0 "),
           paint(style, kFaint, " 0 ") + bar + paint(style, 2, " c "),
           paint(style, kFaint, " 1 ") + bar + paint(style, 0, " a "),
       }) {
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\nin\n" << text;
  }
}

TEST(GatherPicture, PaintsTuplesLikeTheirTarget) {
  const Style style{.color = true, .width = 80};
  const std::string text = drawn_gather("gather_nd f32[2,2] i64[1,2]={1,0}", style);
  EXPECT_NE(text.find(paint(style, 2, " 1 ") + paint(style, 2, " 0 ")), std::string::npos) << text;
  EXPECT_NE(text.find(paint(style, 2, " c ") + paint(style, kFaint, " d ")), std::string::npos);
}

TEST(GatherPicture, DescribesElements) {
  EXPECT_EQ(described("gather f32[3] i64[]={2}", 0), "output = data[2]   because indices = 2");
  EXPECT_EQ(described("gather_nd f32[2,3] i64[2,2]={0,1,1,-1}", 1),
            "output[1] = data[1, 2]   because indices[1, :] = (1, -1)");
  EXPECT_EQ(described("gather_nd f32[2] i64[1,0]={}", 1), "output[0, 1] = data[1]");
  EXPECT_EQ(described("gather f32[3] u64[1]={18446744073709551615} out_of_range=fill", 0),
            "output[0] = fill_value 0   because indices[0] = 18446744073709551615");
  EXPECT_EQ(described("xla_gather f32[3,3] i64[2,1]={1,2} collapsed_slice_dims=[0,1] "
                      "start_index_map=[0,1] index_vector_dim=0 slice_sizes=[1,1]",
                      0),
            "output[0] = data[1, 2]   because indices[:, 0] = (1, 2)");
}

TEST(GatherPicture, MarksBadIndices) {
  const Problem problem = parse_problem("gather_nd f32[2,3] i64[2,2]={1,2,2,-4}");
  const Plan plan = make_plan(problem.request);
  const std::string plain = draw_bad_indices(plan, nullptr, problem.indices->data(), {});
  EXPECT_NE(plain.find(" 0 │   1    2\n"), std::string::npos) << plain;
  EXPECT_NE(plain.find(" 1 │  !2  !-4\n"), std::string::npos) << plain;
  const Style style{.color = true, .width = 80};
  const std::string colored = draw_bad_indices(plan, nullptr, problem.indices->data(), style);
  EXPECT_NE(colored.find(paint(style, kWrong, " -4 ")), std::string::npos) << colored;
}

}  // namespace
}  // namespace sheaf::pictures
