// SPDX-License-Identifier: MIT
#include "pictures/operator_picture.h"

#include <gtest/gtest.h>

#include "problem/problem.h"

namespace sheaf::pictures {
namespace {

std::string drawn_scatter(const char* text, const Style& style = {}) {
  const Problem problem = parse_problem(text);
  const Plan plan = make_plan(problem.request);
  const std::vector<ElementSource> map =
      element_map(plan, {problem.indices->data(), plan.indices()});
  return draw_scene({plan, problem.data ? problem.data->data() : nullptr, problem.indices->data(),
                     map, problem.updates ? problem.updates->data() : nullptr},
                    style);
}

TEST(ScatterPicture, ShowsWhichUpdateWins) {
  EXPECT_EQ(drawn_scatter("scatter f32[3,2] i64[3]={2,0,-1} axis=0"),
            "updates f32[3, 2]    indices i64[3]     output f32[3, 2], axis 0 ↓\n"
            "     0  1                 0   1   2          0  1\n"
            " 0 │ a  b              │  2   0  -1      0 │ c  d\n"
            " 1 │ c  d                                1 │ ·  ·\n"
            " 2 │ e  f                                2 │ e  f\n"
            "\n"
            "for example  updates[0, 0] goes to output[2, 0]   because indices[0] = 2\n"
            "             2 updates meet in output[2, 0]: the last one, updates[2, 0], stays\n");
}

TEST(ScatterPicture, ShowsWhatIsJoined) {
  const std::string text =
      drawn_scatter("scatter f32[3] i64[4]={2,0,9,2} reduction=add out_of_range=skip");
  EXPECT_NE(text.find("(c)"), std::string::npos) << text;
  EXPECT_NE(text.find("·+b"), std::string::npos) << text;
  EXPECT_NE(text.find("·+a+d"), std::string::npos) << text;
  EXPECT_NE(text.find("2 updates meet in output[2]: reduction = add, in row-major order, "
                      "updates[3] last\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      drawn_scatter("scatter f32[1] i64[2]={0,0} reduction=max include_self=0").find("max(a,b)"),
      std::string::npos);
  EXPECT_NE(drawn_scatter("scatter f32[1] i64[2]={0,0} reduction=mul onto_zeros=1").find("0*a*b"),
            std::string::npos);
  EXPECT_NE(
      drawn_scatter("scatter f32[1]={7} i64[6]={0,0,0,0,0,0} reduction=sub").find("7-a-b-c-…"),
      std::string::npos);
}

TEST(ScatterPicture, ShowsResultsWhereAllValuesAreGiven) {
  const std::string text =
      drawn_scatter("scatter i32[3]={10,20,30} i64[3]={2,0,2} i32[3]={1,2,3} reduction=add");
  EXPECT_NE(text.find("│ 12  20  34\n"), std::string::npos) << text;
}

TEST(ScatterPicture, OfTuplesAndWindows) {
  const std::string tuples = drawn_scatter("scatter_nd f32[2,2] i64[2,2]={0,1,1,0}");
  EXPECT_NE(tuples.find("updates[0] goes to output[0, 1]   because indices[0, :] = (0, 1)"),
            std::string::npos)
      << tuples;
  const std::string cut = drawn_scatter(
      "xla_scatter f32[4] i64[1,1]={3} f32[1,2] update_window_dims=[1] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1");
  EXPECT_NE(cut.find("(b)"), std::string::npos) << cut;
  EXPECT_NE(cut.find("│ ·  ·  ·  a\n"), std::string::npos) << cut;
}

TEST(ScatterPicture, SkippedUpdatesAreGrey) {
  const std::string text =
      drawn_scatter("scatter f32[2] i64[2]={5,1} out_of_range=skip", {.color = true, .width = 80});
  EXPECT_NE(text.find("\033[30;48;5;250m (a) \033[0m"), std::string::npos) << text;
}

TEST(ScatterPicture, OfNothing) {
  EXPECT_NE(drawn_scatter("scatter f32[3] i64[0]={}").find("(no elements)"), std::string::npos);
  EXPECT_NE(
      drawn_scatter("scatter f32[0] i64[1]={0} out_of_range=skip").find("updates[0] is skipped"),
      std::string::npos);
}

}  // namespace
}  // namespace sheaf::pictures
