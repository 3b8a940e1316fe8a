// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "helpers/exhaustive.h"
#include "helpers/scatter_world.h"
#include "helpers/small_world.h"

using oracle::Op;
using oracle::Problem;
using oracle::rank;
using oracle::Shape;

namespace {

// All lists of `length` numbers from [0, limit).
std::vector<Shape> lists(int64_t length, int64_t limit) {
  std::vector<Shape> all;
  const Shape box(static_cast<size_t>(length), limit);
  for (int64_t i = 0; i < oracle::element_count(box); ++i) {
    all.push_back(oracle::point_of(i, box));
  }
  return all;
}

// All ascending lists of `length` numbers from [0, limit).
std::vector<Shape> ascending(int64_t length, int64_t limit) {
  std::vector<Shape> all;
  for (const Shape& list : lists(length, limit)) {
    if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end()) {
      all.push_back(list);
    }
  }
  return all;
}

// World is SmallWorld or ScatterWorld.
template <class World>
class XlaWorld {
 public:
  explicit XlaWorld(const Machine& machine) : world_(machine, 1, true) {}

  void run(int64_t data_rank, int64_t indices_rank) {
    for (const Shape& data : shapes(data_rank, data_rank, 2)) {
      for (const Shape& indices : shapes(indices_rank, indices_rank, 2)) {
        for (int64_t dim = 0; dim <= indices_rank; ++dim) {
          with_start_indices(
              {.op = Op::kXlaGather, .data = data, .indices = indices, .index_vector_dim = dim});
        }
      }
    }
  }
  const World& world() const { return world_; }

 private:
  void with_start_indices(Problem p) {
    const bool tuples = p.index_vector_dim < rank(p.indices);
    const int64_t components = tuples ? p.indices[static_cast<size_t>(p.index_vector_dim)] : 1;
    for (const Shape& map : lists(components, rank(p.data))) {
      p.start_index_map = map;
      for (int64_t count = 0; count <= std::min(rank(p.data), rank(p.indices)); ++count) {
        for (const Shape& in_data : ascending(count, rank(p.data))) {
          for (const Shape& in_indices : lists(count, rank(p.indices))) {
            p.operand_batching_dims = in_data;
            p.start_indices_batching_dims = in_indices;
            with_batching(p);
          }
        }
      }
    }
  }

  void with_batching(Problem p) {
    const int64_t shown = rank(p.data) - rank(p.operand_batching_dims);
    const bool tuples = p.index_vector_dim < rank(p.indices);
    for (int64_t collapsed = 0; collapsed <= shown; ++collapsed) {
      const int64_t offsets = shown - collapsed;
      const int64_t output_rank = offsets + rank(p.indices) - (tuples ? 1 : 0);
      for (const Shape& collapsed_dims : ascending(collapsed, rank(p.data))) {
        for (const Shape& offset_dims : ascending(offsets, output_rank)) {
          p.collapsed_slice_dims = collapsed_dims;
          p.offset_dims = offset_dims;
          with_slices(p);
        }
      }
    }
  }

  // A scatter's slices are those of its updates: they show everything but hidden dimensions.
  static bool has_slices(const Problem& p) {
    for (const Shape* hidden : {&p.collapsed_slice_dims, &p.operand_batching_dims}) {
      for (const int64_t d : *hidden) {
        if (p.slice_sizes[static_cast<size_t>(d)] != 1) {
          return false;
        }
      }
    }
    return true;
  }

  void check(Problem p) {
    if constexpr (std::is_same_v<World, ScatterWorld>) {
      if (has_slices(p)) {
        p.skip_whole_window = ++checked_ % 2 == 0;
        world_.check(p);
      }
    } else {
      world_.check(p);
    }
  }

  void with_slices(Problem p) {
    p.scatters = std::is_same_v<World, ScatterWorld>;
    for (const Shape& slices : lists(rank(p.data), 3)) {
      p.slice_sizes = slices;
      Shape shape;
      const bool sound = oracle::output_shape(p, shape);
      if (!world_.gave_up() && (sound || ++unsound_ % 5 == 0)) {
        check(p);
      }
    }
  }

  World world_;
  int64_t unsound_ = 0, checked_ = 0;
};

template <class World>
void check_world(const Machine& machine, int64_t data_rank, int64_t indices_rank) {
  XlaWorld<World> xla(machine);
  xla.run(data_rank, indices_rank);
  EXPECT_GT(xla.world().answered(), 0);
}

}  // namespace

void check_every_xla_gather(const Machine& machine, int64_t data_rank, int64_t indices_rank) {
  check_world<SmallWorld>(machine, data_rank, indices_rank);
}

void check_every_xla_scatter(const Machine& machine, int64_t data_rank, int64_t indices_rank) {
  check_world<ScatterWorld>(machine, data_rank, indices_rank);
}
