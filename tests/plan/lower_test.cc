// SPDX-License-Identifier: MIT
//
// One loop for each output dimension, before anything is merged.
#include "plan/lower.h"

#include <gtest/gtest.h>

#include <memory>

#include "helpers/limits.h"
#include "plan/infer.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

Request request(Op op, const TensorSpec& data, const TensorSpec& indices) {
  Request r = request_from(op);
  r.data = data;
  r.indices = indices;
  return r;
}

Nest lowered(Request r) {
  infer(r);
  return lower(r);
}

TEST(LowerGather, SliceAndGrid) {
  Request r = request(Op::kGather, {f32, {2, 3, 5}}, {i64, {7, 4}});
  r.axis = 1;
  const Nest nest = lowered(r);
  EXPECT_EQ(nest.loops,
            (Fixed<Loop>{{2, 60, 0, 560, 0}, {7, 0, 4, 80, 0}, {4, 0, 1, 20, 0}, {5, 4, 0, 4, 0}}));
  EXPECT_EQ(nest.coordinates, (Fixed<Coordinate>{{3, 20, 0}}));
  EXPECT_EQ(nest.index_loops, (Fixed<IndexLoop>{{7, 4}, {4, 1}}));
  EXPECT_EQ(nest.row_bytes, 4);
  EXPECT_EQ(nest.element_bytes, 4);
  EXPECT_EQ(nest.index_type, i64);
}

TEST(LowerGather, BatchDimensionsMoveBoth) {
  Request r = request(Op::kGather, {u8, {2, 3, 5}}, {i32, {2, 7}});
  r.axis = 2;
  r.batch_dims = 1;
  EXPECT_EQ(lowered(r).loops, (Fixed<Loop>{{2, 15, 7, 21, 0}, {3, 5, 0, 7, 0}, {7, 0, 1, 1, 0}}));
}

TEST(LowerGatherElements, StretchedDimensionsStandStill) {
  Request r = request(Op::kGatherElements, {u8, {4, 1, 5}}, {i8, {6, 3, 1}});
  r.broadcast = true;
  const Nest nest = lowered(r);
  EXPECT_EQ(nest.loops, (Fixed<Loop>{{6, 0, 3, 15, 0}, {3, 0, 1, 5, 0}, {5, 1, 0, 1, 0}}));
  EXPECT_EQ(nest.coordinates, (Fixed<Coordinate>{{4, 5, 0}}));
}

TEST(LowerGatherNd, TuplesAreCoordinates) {
  Request r = request(Op::kGatherNd, {u8, {2, 3, 5, 7}}, {i64, {2, 4, 2}, {1, 2, 8}});
  r.batch_dims = 1;
  const Nest nest = lowered(r);
  EXPECT_EQ(nest.loops, (Fixed<Loop>{{2, 105, 1, 28, 0}, {4, 0, 2, 7, 0}, {7, 1, 0, 1, 0}}));
  EXPECT_EQ(nest.coordinates, (Fixed<Coordinate>{{3, 35, 0}, {5, 7, 8}}));
  EXPECT_EQ(nest.index_loops, (Fixed<IndexLoop>{{2, 1}, {4, 2}}));
  EXPECT_EQ(tuple_dim(r), 2);
  EXPECT_EQ(coordinate_axis(r, 1), 2);
  EXPECT_EQ(coordinate_window(r, 1), 1);
}

TEST(LowerXla, WindowsShortenTheRange) {
  Request r = request(Op::kXlaGather, {u8, {3, 4, 5}}, {i64, {2, 3, 2}});
  // Tuples in front; grid 3 goes with data's batch; window 2 of 5, shown before the batch.
  r.xla = XlaGatherOptions{.offset_dims = {0},
                           .collapsed_slice_dims = {1},
                           .operand_batching_dims = {0},
                           .start_indices_batching_dims = {1},
                           .start_index_map = {2, 1},
                           .index_vector_dim = 0,
                           .slice_sizes = {1, 1, 2}};
  const Nest nest = lowered(r);
  EXPECT_EQ(nest.loops, (Fixed<Loop>{{2, 1, 0, 6, 0}, {3, 20, 2, 2, 0}, {2, 0, 1, 1, 0}}));
  EXPECT_EQ(nest.coordinates, (Fixed<Coordinate>{{4, 1, 0}, {4, 5, 6}}));
  EXPECT_EQ(tuple_dim(r), 0);
  EXPECT_EQ(coordinate_axis(r, 0), 2);
  EXPECT_EQ(coordinate_window(r, 0), 2);
}

TEST(LowerStrides, UnusedOnesAreNotTakenOver) {
  // 2^63 - 1 elements of 8 bytes cannot be a stride in bytes: it must not be computed.
  const Nest one = lowered(request(Op::kGather, {f64, {1, 2}, {kMost, 1}}, {i64, {1}, {kMost}}));
  EXPECT_EQ(one.loops, (Fixed<Loop>{{1, 0, 0, 0, 0}, {2, 8, 0, 8, 0}}));
  EXPECT_EQ(one.coordinates, (Fixed<Coordinate>{{1, 0, 0}}));
  const Nest none = lowered(request(Op::kGather, {f64, {2, 0}, {kMost, 1}}, {i64, {2}}));
  EXPECT_EQ(none.coordinates, (Fixed<Coordinate>{{2, 0, 0}}));
  const Nest no_tuples = lowered(request(Op::kGatherNd, {u8, {5}}, {i64, {3, 0}, {kMost, kMost}}));
  EXPECT_EQ(no_tuples.loops, (Fixed<Loop>{{3, 0, 0, 5, 0}, {5, 1, 0, 1, 0}}));
}

}  // namespace
}  // namespace sheaf
