// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "helpers/exhaustive.h"
#include "helpers/small_world.h"

using oracle::Op;
using oracle::rank;
using oracle::Shape;

namespace {}  // namespace

// Index shapes: ranks 0 to 2, extents 0 to 2. All combinations of values for up to 2 indices, for
// data of rank 3 for 1. Batched: index extents up to 3, as batch dimensions have to equal data's;
// axis not negative.
void check_every_gather(const Machine& machine, int64_t data_rank, bool batched) {
  SmallWorld world(machine, data_rank == 3 ? 1 : 2);
  for (const Shape& data : shapes(data_rank, data_rank, 3)) {
    for (const Shape& indices : shapes(0, 2, batched ? 3 : 2)) {
      for (int64_t axis = -rank(data) - 1; axis <= rank(data); ++axis) {
        const int64_t low = batched ? -rank(indices) - 1 : 0;
        const int64_t high = batched ? rank(indices) + 1 : 0;
        for (int64_t batch = low; batch <= high && !world.gave_up(); ++batch) {
          if (batched && (batch == 0 || axis < 0)) {
            continue;  // the other test has those
          }
          world.check({.op = Op::kGather,
                       .data = data,
                       .indices = indices,
                       .axis = axis,
                       .batch_dims = batch});
        }
      }
    }
  }
  EXPECT_GT(world.refused_shapes(), 0);
  if (data_rank > 0) {
    EXPECT_GT(world.refused_indices(), 0);
    EXPECT_GT(world.answered(), 0);
  }
}

// Index shapes: all of the same rank with extents 0 to 3 (and one rank less and more, refused),
// whether they fit or not. All combinations of values for up to `full` indices.
void check_every_gather_elements(const Machine& machine, int64_t data_rank, bool broadcast,
                                 size_t full) {
  SmallWorld world(machine, full);
  for (const Shape& data : shapes(data_rank, data_rank, 3)) {
    for (const Shape& indices : shapes(std::max<int64_t>(0, data_rank - 1), data_rank + 1, 3)) {
      if (rank(indices) > data_rank && indices.back() > 1) {
        continue;  // refused for the rank alone; some are enough
      }
      for (int64_t axis = -1; axis <= rank(data) && !world.gave_up(); ++axis) {
        world.check({.op = Op::kGatherElements,
                     .data = data,
                     .indices = indices,
                     .axis = axis,
                     .broadcast = broadcast});
      }
    }
  }
  EXPECT_GT(world.refused_shapes(), 0);
  if (data_rank > 0) {
    EXPECT_GT(world.refused_indices(), 0);
    EXPECT_GT(world.answered(), 0);
  }
}

// Index shapes: a grid of rank 0 to 2 with extents 0 to 2, or up to 3 where there are batch
// dimensions, then tuples of 0 to one more than data has dimensions. All combinations of values
// for up to `full` indices.
void check_every_gather_nd(const Machine& machine, int64_t data_rank, size_t full) {
  SmallWorld world(machine, full);
  for (const Shape& data : shapes(data_rank, data_rank, 3)) {
    for (const Shape& grid : shapes(0, 2, 3)) {
      for (int64_t tuple = 0; tuple <= data_rank + 1; ++tuple) {
        Shape indices = grid;
        indices.push_back(tuple);
        const bool large = std::count(grid.begin(), grid.end(), 3) > 0;
        for (int64_t batch = large ? 1 : -rank(indices) - 1; batch <= rank(indices); ++batch) {
          if (!world.gave_up()) {
            world.check(
                {.op = Op::kGatherNd, .data = data, .indices = indices, .batch_dims = batch});
          }
        }
      }
    }
  }
  world.check({.op = Op::kGatherNd, .data = {2}, .indices = {}});
  EXPECT_GT(world.refused_shapes(), 0);
  EXPECT_GT(world.answered(), 0);
  if (data_rank > 0) {
    EXPECT_GT(world.refused_indices(), 0);
  }
}
