// SPDX-License-Identifier: MIT
#include "pictures/formula.h"

#include <gtest/gtest.h>

#include "problem/problem.h"

namespace sheaf::pictures {
namespace {

std::string formula_of(const char* problem) {
  return formula(make_plan(parse_problem(problem).request).request());
}

TEST(Formula, OfGather) {
  EXPECT_EQ(formula_of("gather f32[3] i64[]"), "output = data[indices]");
  EXPECT_EQ(formula_of("gather f32[3,2] i64[4] axis=0"), "output[i, j] = data[indices[i], j]");
  EXPECT_EQ(formula_of("gather f32[3,2] i64[4,5] axis=-1"),
            "output[i, j, k] = data[i, indices[j, k]]");
  EXPECT_EQ(formula_of("gather f32[3,2,7] i64[3,4] axis=1 batch_dims=1"),
            "output[i, j, k] = data[i, indices[i, j], k]");
}

TEST(Formula, OfGatherElements) {
  EXPECT_EQ(formula_of("gather_elements f32[3,2] i64[4,2] axis=0"),
            "output[i, j] = data[indices[i, j], j]");
  EXPECT_EQ(formula_of("gather_elements f32[3,1] i64[1,4] axis=0 broadcast=1"),
            "output[i, j] = data[indices[i, j], 0]");
  EXPECT_EQ(formula_of("gather_elements f32[3,5] i64[2,1] axis=0 broadcast=1"),
            "output[i, j] = data[indices[i, 0], j]");
}

TEST(Formula, OfGatherNd) {
  EXPECT_EQ(formula_of("gather_nd f32[3,2] i64[1]"), "output[i] = data[indices[0], i]");
  EXPECT_EQ(formula_of("gather_nd f32[3,2] i64[4,2]"),
            "output[i] = data[indices[i, 0], indices[i, 1]]");
  EXPECT_EQ(formula_of("gather_nd f32[3,2,5] i64[3,4,1] batch_dims=1"),
            "output[i, j, k] = data[i, indices[i, j, 0], k]");
  EXPECT_EQ(formula_of("gather_nd f32[3] i64[2,0]"), "output[i, j] = data[j]");
}

TEST(Formula, OfXlaGather) {
  EXPECT_EQ(formula_of("xla_gather f32[3,4,2] i64[2,2] offset_dims=[1,2] collapsed_slice_dims=[0] "
                       "start_index_map=[1,0] index_vector_dim=1 slice_sizes=[1,2,2]"),
            "output[i, j, k] = data[indices[i, 1], indices[i, 0] + j, k]");
  EXPECT_EQ(formula_of("xla_gather f32[2,3] i64[2] collapsed_slice_dims=[1] "
                       "operand_batching_dims=[0] start_indices_batching_dims=[0] "
                       "start_index_map=[1] index_vector_dim=1 slice_sizes=[1,1]"),
            "output[i] = data[i, indices[i]]");
}

TEST(Formula, OfScatters) {
  EXPECT_EQ(formula_of("scatter f32[3,2] i64[4] axis=1"), "output[i, indices[j]] = updates[i, j]");
  EXPECT_EQ(formula_of("scatter f32[3,2,5] i64[2,4] axis=1 reduction=add"),
            "output[i, indices[j, k], l] += updates[i, j, k, l]");
  EXPECT_EQ(formula_of("scatter_elements f32[3,2] i64[1,2] axis=0 reduction=min"),
            "output[indices[i, j], j] min= updates[i, j]");
  EXPECT_EQ(formula_of("scatter_nd f32[3,2] i64[4,1] reduction=sub"),
            "output[indices[i, 0], j] -= updates[i, j]");
  EXPECT_EQ(formula_of("scatter_nd f32[3,2] i64[2] reduction=mul"),
            "output[indices[0], indices[1]] *= updates");
  EXPECT_EQ(formula_of("xla_scatter f32[3,4,2] i64[2,2] f32[2,2,2] update_window_dims=[1,2] "
                       "inserted_window_dims=[0] scatter_dims_to_operand_dims=[1,0] "
                       "index_vector_dim=1"),
            "output[indices[i, 1], indices[i, 0] + j, k] = updates[i, j, k]");
}

TEST(Formula, OfManyDimensionsNumbersThem) {
  EXPECT_EQ(formula_of("gather f32[1,1,1,1,1,1,1,1,2] i64[1] axis=8"),
            "output[i0, i1, i2, i3, i4, i5, i6, i7, i8] = "
            "data[i0, i1, i2, i3, i4, i5, i6, i7, indices[i8]]");
}

}  // namespace
}  // namespace sheaf::pictures
