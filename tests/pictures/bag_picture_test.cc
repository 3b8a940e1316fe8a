// SPDX-License-Identifier: MIT
#include "pictures/bag_picture.h"

#include <gtest/gtest.h>

#include <cstring>

#include "problem/bag_text.h"
#include "sheaf/explain.h"

namespace sheaf::pictures {
namespace {

const void* values_of(const std::optional<Literal>& values) {
  return values ? values->data() : nullptr;
}

std::string drawn_bag(const char* problem) {
  const BagText text = parse_bag(problem);
  const BagPlan plan = make_bag_plan(text.request);
  return draw_bag({plan,
                   {.stored = values_of(text.data),
                    .indices = values_of(text.indices),
                    .segments = values_of(text.segments),
                    .weights = values_of(text.weights)}},
                  {});
}

TEST(BagPicture, NamesRowsWithoutValues) {
  EXPECT_EQ(drawn_bag("bag f32[3,2] i64[3]={2,0,2} offsets=i64[2]={0,2}"),
            "data f32[3, 2]    indices i64[3], by bag    output f32[2, 2]\n"
            "     0  1              0  1                        0    1\n"
            " 0 │ a  b          0 │ 2  0                  0 │ e+a  f+b\n"
            " 1 │ c  d          1 │ 2                     1 │   e    f\n"
            " 2 │ e  f\n");
}

TEST(BagPicture, PoolsValues) {
  EXPECT_EQ(drawn_bag("bag f32[3,1]={1,2,4} i64[3]={2,0,9} ids=i64[3]={0,0,1} bags=2 pool=mean "
                      "out_of_range=skip"),
            "data f32[3, 1]    indices i64[3], by bag    output f32[2, 1]\n"
            "     0                   0    1                    0\n"
            " 0 │ 1             0 │   2    0              0 │ 2.5\n"
            " 1 │ 2             1 │ (9)                   1 │   0\n"
            " 2 │ 4\n");
}

TEST(BagPicture, ShowsDecodedRows) {
  // Two rows of two codes, each with its scale and bias.
  const EncodedSpec table = encoded_rows(Encoding::kRowU8F32, {2, 2});
  std::byte stored[2][10] = {};
  for (int row = 0; row < 2; ++row) {
    const float scale = 0.5F * static_cast<float>(row + 1), bias = 10;
    stored[row][0] = std::byte{1};
    stored[row][1] = std::byte{3};
    std::memcpy(stored[row] + 2, &scale, 4);
    std::memcpy(stored[row] + 6, &bias, 4);
  }
  const int64_t indices[2] = {1, 0};
  const BagPlan plan = plan_bag({.data = table, .indices = TensorSpec(i64, {1, 2})});
  EXPECT_EQ(draw_bag({plan, {.stored = stored, .indices = indices}}, {}),
            "data row_u8_f32[2, 2]    indices i64[1, 2], by bag    output f32[1, 2]\n"
            "        0     1               0  1                            0     1\n"
            " 0 │ 10.5  11.5           0 │ 1  0                     0 │ 21.5  24.5\n"
            " 1 │   11    13\n");
}

TEST(BagPicture, IsTheSameWhateverTheStrides) {
  // A column of a matrix as indices, backwards.
  const int64_t matrix[3][2] = {{0, 9}, {2, 9}, {1, 9}};
  const int64_t list[3] = {1, 2, 0};
  const EncodedSpec table = TensorSpec(f32, {3, 1});
  const BagPlan strided = plan_bag({.data = table, .indices = TensorSpec(i64, {1, 3}, {3, -2})});
  const BagPlan plain = plan_bag({.data = table, .indices = TensorSpec(i64, {1, 3})});
  EXPECT_EQ(draw_bag({strided, {.indices = &matrix[2][0]}}, {}),
            draw_bag({plain, {.indices = list}}, {}));
}

TEST(BagPicture, MakesEntriesUpForSmallBagsOnly) {
  std::vector<Zeros> made;
  BagMemory memory;
  const BagPlan small =
      make_bag_plan(parse_bag("bag f32[5,2] i64[6] offsets=i64[3] pool=mean").request);
  EXPECT_TRUE(make_up_entries(small, memory, made));
  EXPECT_EQ(made.size(), 2U);
  const BagPlan large = make_bag_plan(parse_bag("bag f32[5,2] i64[4096,20]").request);
  BagMemory none;
  EXPECT_FALSE(make_up_entries(large, none, made));
  try {
    svg_picture(large);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "explain: no picture\n"
                 "  a tensor has more elements than a picture takes\n"
                 "  try: a smaller shape, with indices as in i64[4]={3,1,0,2}");
  }
}

TEST(BagPicture, RefusesAsARunDoes) {
  EXPECT_THROW(drawn_bag("bag f32[3,2] i64[3]={2,0,7} offsets=i64[2]={0,2}"), IndexError);
  EXPECT_THROW(drawn_bag("bag f32[3,2] i64[3]={2,0,1} offsets=i64[2]={0,9}"), Error);
}

}  // namespace
}  // namespace sheaf::pictures
