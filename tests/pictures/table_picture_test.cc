// SPDX-License-Identifier: MIT
#include "pictures/table_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/table_text.h"

namespace sheaf::pictures {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string drawn_table(const char* problem) {
  TableText text = parse_table(problem);
  const Plan plan = make_plan(text.problem.request);
  const void* const indices = text.problem.indices->data();
  const auto map = element_map(plan, {indices, plan.indices()});
  const void* const data = text.problem.data ? text.problem.data->data() : nullptr;
  return draw_table({plan, data, indices, map}, text.journey, {.color = false, .width = 150});
}

std::string way_of(const char* problem, int64_t row_bytes) {
  return std::string(chosen_way(parse_table(problem).journey, row_bytes));
}

TEST(TablePicture, ShowsPiecesAndTheCache) {
  const std::string text = drawn_table(
      "table f32[3,2] i64[4]={2,0,2,1} from=file to=gpu piece_rows=2 cached=i64[1]={2}");
  EXPECT_TRUE(text.starts_with(
      "table f32[3, 2], in a file    indices i64[4]     piece 0, host    piece 1, host    "
      "cache, gpu    output f32[4, 2], gpu\n"))
      << text;
  EXPECT_THAT(text,
              HasSubstr(" 0 │ a  b                       │ 2  0  2  1      0 │ a  b         0 "
                        "│ c  d         0 │ e  f      0 │ e  f\n"));
  EXPECT_THAT(text,
              HasSubstr("3 │ c  d\n\nfor example  output[0] = table[2]: it is in the cache of "
                        "gpu\n"));
}

TEST(TablePicture, ARowOfAPieceIsFetchedOnceWhereItIsLong) {
  const std::string shorter = drawn_table("table f32[3,2]={1,2,3,4,5,6} i64[3]={1,1,1} to=gpu");
  EXPECT_THAT(shorter, HasSubstr("piece 0, host"));
  EXPECT_THAT(shorter, HasSubstr(" 2 │ 3  4         2 │ 3  4")) << "three rows travel";
  const std::string longer = drawn_table("table f64[3,4] i64[3]={1,1,1} to=gpu");
  EXPECT_THAT(longer, Not(HasSubstr(" 1 │ e  f  g  h    1 │"))) << longer;
}

TEST(TablePicture, ReadsWhereTheRowsLie) {
  const std::string host = drawn_table("table f32[3,2] i64[2]={2,0}");
  EXPECT_THAT(host, HasSubstr("table f32[3, 2], in host memory"));
  EXPECT_THAT(host, Not(HasSubstr("piece")));
  EXPECT_THAT(host, HasSubstr("output[0] = table[2]: read where it lies\n"));
  EXPECT_THAT(drawn_table("table f32[3,2] i64[2]={2,0} from=gpu to=gpu"),
              HasSubstr("read where it lies, by a kernel of gpu\n"));
  EXPECT_THAT(drawn_table("table f32[2,512] i64[2]={1,0} to=gpu locked=1"),
              HasSubstr("a kernel of gpu reads it over the bus\n"));
  EXPECT_THAT(drawn_table("table f32[3,2] i64[2]={2,0} from=file"),
              HasSubstr("read from the file into its place\n"));
  EXPECT_THAT(drawn_table("table f32[3,2] i64[2]={2,0} from=gpu"),
              HasSubstr("gathered on gpu into piece 0, copied to the host\n"));
}

TEST(TablePicture, FillsWhatIsOutOfRange) {
  const std::string text =
      drawn_table("table f32[3,1] i64[2]={7,1} to=gpu out_of_range=fill fill_value=9");
  EXPECT_THAT(text, HasSubstr("│ 9\n"));
  EXPECT_THAT(text, HasSubstr("output[1] = table[1]: fetched by host threads into piece 0"));
}

TEST(TablePicture, TheFirstWayThatTakesTheCallRuns) {
  EXPECT_EQ(way_of("table f32[1,1] i64[1]", 8), "host");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] from=file to=gpu", 8), "file");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] to=vulkan", 8), "ring");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] to=gpu locked=1", 8), "ring");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] to=gpu locked=1", 2048), "mapped");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] to=gpu locked=1 cached=i64[1]={0}", 2048), "ring");
  EXPECT_EQ(way_of("table f32[1,1] i64[1] to=gpu locked=1 way=mapped", 8), "mapped");
}

TEST(TablePicture, RefusesWhatIsNoJourney) {
  const auto error = [](const char* problem) {
    try {
      parse_table(problem);
    } catch (const std::exception& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_THAT(error("table f32[2,1] i64[1] to=file"),
              HasSubstr("\"file\" at column 26 is no place for rows"));
  EXPECT_THAT(error("table f32[2,1] i64[1] from="), HasSubstr("unknown place"));
  EXPECT_THAT(error("table f32[2,1] i64[1] way=bus"), HasSubstr("names no way"));
  EXPECT_THAT(error("table f32[2,1] i64[1] to=gpu to=gpu"), HasSubstr("attribute given twice"));
  EXPECT_THAT(error("table f32[2,1] i64[1] piece_rows=0"), HasSubstr("is no number of rows"));
  EXPECT_THAT(error("table f32[2,1] i64[1] to=gpu cached=i64[1]={2}"),
              HasSubstr("holds 2, but the table has 2 rows"));
  EXPECT_THAT(error("table f32[2,1] i64[1] cached=f32[1]={1}"), HasSubstr("is no list of rows"));
  EXPECT_THAT(error("table f32[2,1] i64[1] axis=0"), HasSubstr("is no attribute of table"));
  EXPECT_EQ(error("table f32[2,1] i64[1] to=gpu way=file"),
            "table: no way to the rows\n"
            "  file: the table is in host memory\n"
            "  try: other places, or no way=, which takes the first that can");
  EXPECT_THAT(error("table f32[2,1] i64[1] from=gpu to=vulkan"),
              HasSubstr("device: the queue runs on device vulkan"));
}

}  // namespace
}  // namespace sheaf::pictures
