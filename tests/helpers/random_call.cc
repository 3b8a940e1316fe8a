// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "helpers/random_problem.h"

using oracle::Op;
using oracle::Problem;
using oracle::rank;
using oracle::Shape;

namespace {

int64_t random_extent(Rng& rng, int64_t most) {
  if (rng.one_in(40)) {
    return 0;
  }
  return std::min<int64_t>(most, rng.one_in(3) ? rng.from(1, 3) : rng.from(1, 17));
}

// A shape of at most `most` elements.
Shape random_shape(Rng& rng, int64_t dims, int64_t most) {
  Shape shape;
  for (int64_t d = 0; d < dims; ++d) {
    shape.push_back(random_extent(rng, std::max<int64_t>(1, most)));
    most /= std::max<int64_t>(1, shape.back());
  }
  rng.shuffle(shape);
  return shape;
}

int64_t maybe_from_end(Rng& rng, int64_t axis, int64_t dims) {
  return rng.one_in(2) ? axis - dims : axis;
}

void make_gather(Problem& p, Rng& rng, int64_t most) {
  p.data = random_shape(rng, rng.from(1, 6), most);
  const int64_t axis = rng.from(0, rank(p.data) - 1);
  const int64_t batch = rng.one_in(2) ? 0 : rng.from(0, axis);
  p.indices = random_shape(rng, rng.from(0, 2), std::max<int64_t>(1, most / 16));
  p.indices.insert(p.indices.begin(), p.data.begin(), p.data.begin() + batch);
  p.axis = maybe_from_end(rng, axis, rank(p.data));
  p.batch_dims = batch < rank(p.indices) ? maybe_from_end(rng, batch, rank(p.indices)) : batch;
}

void make_gather_elements(Problem& p, Rng& rng, int64_t most) {
  p.data = random_shape(rng, rng.from(1, 6), most);
  p.indices = p.data;
  p.broadcast = !p.scatters && rng.one_in(2);
  const int64_t axis = rng.from(0, rank(p.data) - 1);
  for (size_t d = 0; d < p.data.size(); ++d) {
    if (static_cast<int64_t>(d) == axis) {
      p.indices[d] = random_extent(rng, 17);
    } else if (p.broadcast) {
      (rng.one_in(2) ? p.data : p.indices)[d] = rng.one_in(2) ? 1 : p.data[d];
      p.indices[d] = p.data[d] != 1 && p.indices[d] != 1 ? p.data[d] : p.indices[d];
    } else if (rng.one_in(3)) {
      p.indices[d] = rng.from(0, p.data[d]);
    }
  }
  p.axis = maybe_from_end(rng, axis, rank(p.data));
}

void make_gather_nd(Problem& p, Rng& rng, int64_t most) {
  p.data = random_shape(rng, rng.from(0, 6), most);
  const int64_t batch = rng.one_in(2) ? 0 : rng.from(0, rank(p.data));
  const int64_t tuple = rng.from(0, rank(p.data) - batch);
  p.indices = random_shape(rng, rng.from(0, 2), std::max<int64_t>(1, most / 16));
  p.indices.insert(p.indices.begin(), p.data.begin(), p.data.begin() + batch);
  p.indices.push_back(tuple);
  p.batch_dims = maybe_from_end(rng, batch, rank(p.indices));
}

// `count` dimensions of a tensor, in ascending order.
Shape some_dims(Rng& rng, int64_t count, int64_t dims) {
  Shape all(static_cast<size_t>(dims));
  std::iota(all.begin(), all.end(), 0);
  rng.shuffle(all);
  all.resize(static_cast<size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

// What each dimension of data is: a window, a single entry, or one of a batch.
struct Roles {
  Shape window, collapsed, batching;
};

Roles random_roles(Rng& rng, int64_t dims) {
  Roles roles;
  for (int64_t d = 0; d < dims; ++d) {
    (rng.one_in(2) ? roles.window : rng.one_in(3) ? roles.batching : roles.collapsed).push_back(d);
  }
  return roles;
}

void make_xla_gather(Problem& p, Rng& rng, int64_t most) {
  p.data = random_shape(rng, rng.from(0, 5), most);
  const Roles roles = random_roles(rng, rank(p.data));
  p.collapsed_slice_dims = roles.collapsed;
  p.operand_batching_dims = roles.batching;
  p.slice_sizes.assign(p.data.size(), 1);
  for (const int64_t d : roles.window) {
    p.slice_sizes[static_cast<size_t>(d)] = rng.from(0, p.data[static_cast<size_t>(d)]);
  }
  // The batch dimensions of indices, some of which go with those of data, in any order.
  p.indices = random_shape(rng, rng.from(0, 2), std::max<int64_t>(1, most / 16));
  Shape places;
  for (const int64_t d : roles.batching) {
    p.slice_sizes[static_cast<size_t>(d)] =
        p.scatters ? 1 : std::min<int64_t>(1, p.data[static_cast<size_t>(d)]);
    p.indices.push_back(p.data[static_cast<size_t>(d)]);
    places.push_back(rank(p.indices) - 1);
  }
  p.offset_dims = some_dims(rng, rank(roles.window), rank(roles.window) + rank(p.indices));
  Shape movable = roles.window;
  movable.insert(movable.end(), roles.collapsed.begin(), roles.collapsed.end());
  rng.shuffle(movable);
  movable.resize(static_cast<size_t>(rng.from(0, rank(movable))));
  p.start_index_map = movable;
  const bool tuples = movable.size() != 1 || rng.one_in(2);
  p.index_vector_dim = tuples ? rng.from(0, rank(p.indices)) : rank(p.indices);
  if (tuples) {
    p.indices.insert(p.indices.begin() + p.index_vector_dim, rank(movable));
  }
  for (const int64_t place : places) {
    p.start_indices_batching_dims.push_back(place +
                                            (tuples && place >= p.index_vector_dim ? 1 : 0));
  }
}

}  // namespace

Problem random_call(Rng& rng, int64_t most, bool scatters) {
  Problem p;
  p.scatters = scatters;
  p.op = rng.pick<Op>({Op::kGather, Op::kGatherElements, Op::kGatherNd, Op::kXlaGather});
  switch (p.op) {
    case Op::kGather: make_gather(p, rng, most); break;
    case Op::kGatherElements: make_gather_elements(p, rng, most); break;
    case Op::kGatherNd: make_gather_nd(p, rng, most); break;
    case Op::kXlaGather: make_xla_gather(p, rng, most); break;
  }
  return p;
}

void change_one_thing(Problem& p, Rng& rng) {
  std::vector<Shape*> lists = {&p.data, &p.indices};
  if (p.op == Op::kXlaGather) {
    lists.insert(lists.end(), {&p.offset_dims, &p.collapsed_slice_dims, &p.operand_batching_dims,
                               &p.start_indices_batching_dims, &p.start_index_map});
    if (!p.scatters) {  // whose slice sizes are those of the updates
      lists.push_back(&p.slice_sizes);
    }
  }
  Shape& list = *rng.pick(lists);
  const bool sizes = &list == &p.data || &list == &p.indices;  // never negative: no tensor is
  switch (rng.from(0, 5)) {
    case 0: p.axis = rng.from(-8, 8); break;
    case 1: p.batch_dims = rng.from(-8, 8); break;
    case 2: p.index_vector_dim = rng.from(-2, 8); break;
    case 3: list.push_back(rng.from(sizes ? 0 : -1, 4)); break;
    case 4:
      if (!list.empty()) {
        list[static_cast<size_t>(rng.from(0, rank(list) - 1))] = rng.from(sizes ? 0 : -1, 4);
      }
      break;
    default:
      if (!list.empty()) {
        list.erase(list.begin() + rng.from(0, rank(list) - 1));
      }
  }
}
