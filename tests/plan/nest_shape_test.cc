// SPDX-License-Identifier: MIT
#include "plan/nest_shape.h"

#include <gtest/gtest.h>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

Nest scatter_nest(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates) {
  return plan_scatter(data, indices, updates).nest();
}

TEST(RowsApart, RowsThatTouchAreApart) {
  EXPECT_TRUE(rows_apart(scatter_nest({f32, {9, 4}}, {i64, {3}}, {f32, {3, 4}})));
  EXPECT_TRUE(rows_apart(scatter_nest({f32, {1, 4}}, {i64, {3}}, {f32, {3, 4}})));
}

TEST(RowsApart, WindowsThatSlideAreNot) {
  const XlaScatterOptions options{.update_window_dims = {1},
                                  .scatter_dims_to_operand_dims = {0},
                                  .index_vector_dim = 1,
                                  .skip_whole_window = true};
  EXPECT_FALSE(rows_apart(plan_xla_scatter({f32, {9}}, {i64, {3}}, {f32, {3, 4}}, options).nest()));
}

// Cut element by element: where a row goes depends on its place in the window.
TEST(RowsApart, WindowsThatAreCutAreNot) {
  const Nest nest =
      plan_xla_scatter(
          {f32, {9}}, {i64, {3}}, {f32, {3, 4}},
          {.update_window_dims = {1}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1})
          .nest();
  bool cut = false;
  for (const Loop& loop : nest.loops) {
    cut |= loop.window != 0;
  }
  EXPECT_TRUE(cut);
  EXPECT_FALSE(rows_apart(nest));
}

}  // namespace
}  // namespace sheaf
