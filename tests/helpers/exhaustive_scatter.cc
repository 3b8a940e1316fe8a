// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "helpers/exhaustive.h"
#include "helpers/scatter_world.h"

using oracle::Op;
using oracle::rank;
using oracle::Shape;

namespace {

int64_t most_extent(int64_t data_rank) { return data_rank == 3 ? 2 : 3; }

void expect_all_kinds(const ScatterWorld& world, int64_t data_rank) {
  EXPECT_GT(world.refused_shapes(), 0);
  if (data_rank > 0) {
    EXPECT_GT(world.refused_indices(), 0);
    EXPECT_GT(world.answered(), 0);
  }
}

}  // namespace

// Extents of rank 3: 0 to 2.
void check_every_scatter(const Machine& machine, int64_t data_rank, bool batched) {
  ScatterWorld world(machine, data_rank < 2 ? 2 : 1, data_rank == 3, data_rank == 1);
  for (const Shape& data : shapes(data_rank, data_rank, most_extent(data_rank))) {
    for (const Shape& indices : shapes(0, 2, batched ? most_extent(data_rank) : 2)) {
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
  expect_all_kinds(world, data_rank);
}

void check_every_scatter_elements(const Machine& machine, int64_t data_rank, size_t full) {
  ScatterWorld world(machine, full, data_rank == 3, data_rank == 1);
  const int64_t most = most_extent(data_rank);
  for (const Shape& data : shapes(data_rank, data_rank, most)) {
    for (const Shape& indices : shapes(std::max<int64_t>(0, data_rank - 1), data_rank + 1, most)) {
      if (rank(indices) > data_rank && indices.back() > 1) {
        continue;  // refused for the rank alone; some are enough
      }
      for (int64_t axis = -1; axis <= rank(data) && !world.gave_up(); ++axis) {
        world.check({.op = Op::kGatherElements, .data = data, .indices = indices, .axis = axis});
      }
    }
  }
  expect_all_kinds(world, data_rank);
}

void check_every_scatter_nd(const Machine& machine, int64_t data_rank, size_t full) {
  ScatterWorld world(machine, full, data_rank == 3, data_rank == 1);
  for (const Shape& data : shapes(data_rank, data_rank, most_extent(data_rank))) {
    for (const Shape& grid : shapes(0, 2, most_extent(data_rank))) {
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
  expect_all_kinds(world, data_rank);
}
