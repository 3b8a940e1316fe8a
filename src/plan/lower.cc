// SPDX-License-Identifier: MIT
#include "plan/lower.h"

#include <algorithm>

#include "plan/byte_ranges.h"
#include "plan/scalar.h"

namespace sheaf {
namespace {

int as_dim(int64_t d) { return static_cast<int>(d); }

int position_in(const Dims& dims, int64_t d) {
  const auto* found = std::find(dims.begin(), dims.end(), d);
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

// Whether there is a window along data_dim whose elements are looked at one by one: Loop::window.
int64_t open_window(const Request& r, int data_dim) {
  if (r.op != Op::kXlaScatter || r.rule.out_of_range != OutOfRange::kSkip || r.skip_whole_window) {
    return 0;
  }
  return position_in(r.xla->start_index_map, data_dim) + 1;
}

// Adds the loops of a nest in the order of the grid's dimensions.
class LoopWriter {
 public:
  LoopWriter(const Request& request, Nest& nest) : r_(request), nest_(nest) {}

  // data_dim / index_dim: the dimension this grid dimension walks along, -1 for none.
  void add(int data_dim, int index_dim) {
    const int d = nest_.loops.size();
    const int64_t window = data_dim < 0 ? 0 : open_window(r_, data_dim);
    const bool moves_data = data_dim >= 0 && window == 0;
    nest_.loops.push_back({.extent = r_.grid().sizes[d],
                           .data = moves_data ? used_byte_stride(r_.table(), data_dim) : 0,
                           .index = index_dim < 0 ? 0 : used_stride(r_.indices, index_dim),
                           .output = used_byte_stride(r_.grid(), d),
                           .window = window});
  }

 private:
  const Request& r_;
  Nest& nest_;
};

void lower_gather(const Request& r, LoopWriter& loops) {
  for (int d = 0; d < r.axis; ++d) {
    loops.add(d, d < r.batch_dims ? d : -1);
  }
  for (int d = as_dim(r.batch_dims); d < r.indices.rank(); ++d) {
    loops.add(-1, d);
  }
  for (int d = as_dim(r.axis) + 1; d < r.data.rank(); ++d) {
    loops.add(d, -1);
  }
}

void lower_gather_elements(const Request& r, LoopWriter& loops) {
  for (int d = 0; d < r.data.rank(); ++d) {
    loops.add(d == r.axis ? -1 : d, d);
  }
}

void lower_gather_nd(const Request& r, LoopWriter& loops) {
  for (int d = 0; d < r.indices.rank() - 1; ++d) {
    loops.add(d < r.batch_dims ? d : -1, d);
  }
  for (int d = as_dim(r.batch_dims + r.indices.sizes.back()); d < r.data.rank(); ++d) {
    loops.add(d, -1);
  }
}

void lower_xla(const Request& r, LoopWriter& loops) {
  const XlaGatherOptions& x = *r.xla;
  int from_indices = 0;
  int from_data = 0;
  for (int d = 0; d < r.grid().rank(); ++d) {
    if (position_in(x.offset_dims, d) >= 0) {
      while (position_in(x.collapsed_slice_dims, from_data) >= 0 ||
             position_in(x.operand_batching_dims, from_data) >= 0) {
        ++from_data;
      }
      loops.add(from_data++, -1);
    } else {
      from_indices += from_indices == x.index_vector_dim ? 1 : 0;
      const int batch = position_in(x.start_indices_batching_dims, from_indices);
      loops.add(batch < 0 ? -1 : as_dim(x.operand_batching_dims[batch]), from_indices++);
    }
  }
}

int coordinate_count(const Request& r) {
  const int dim = tuple_dim(r);
  return dim < 0 ? 1 : as_dim(r.indices.sizes[dim]);
}

// In how many places along `axis` a window of `window` entries can stand. An empty window could
// also stand behind the last entry; for the longest axis there is, that place is left out.
int64_t places(int64_t axis, int64_t window) { return std::min(axis - window, INT64_MAX - 1) + 1; }

void lower_coordinates(const Request& r, Nest& nest) {
  const int dim = tuple_dim(r);
  for (int c = 0; c < coordinate_count(r); ++c) {
    const int axis = coordinate_axis(r, c);
    const bool open = open_window(r, axis) != 0;
    const int64_t window = open ? 1 : coordinate_window(r, c);
    nest.coordinates.push_back({.extent = places(r.data.sizes[axis], window),
                                .stride = used_byte_stride(r.table(), axis),
                                .offset = dim < 0 ? 0 : c * used_stride(r.indices, dim)});
  }
  for (int d = 0; d < r.indices.rank(); ++d) {
    if (d != dim) {
      nest.index_loops.push_back(
          {.extent = r.indices.sizes[d], .stride = used_stride(r.indices, d)});
    }
  }
}

}  // namespace

int tuple_dim(const Request& r) {
  switch (r.op) {
    case Op::kGatherNd:
    case Op::kScatterNd: return r.indices.rank() - 1;
    case Op::kXlaGather:
    case Op::kXlaScatter:
      return r.xla->index_vector_dim < r.indices.rank() ? as_dim(r.xla->index_vector_dim) : -1;
    case Op::kGather:
    case Op::kScatter:
    case Op::kGatherElements:
    case Op::kScatterElements: break;
  }
  return -1;
}

int coordinate_axis(const Request& r, int c) {
  switch (r.op) {
    case Op::kGatherNd:
    case Op::kScatterNd: return as_dim(r.batch_dims) + c;
    case Op::kXlaGather:
    case Op::kXlaScatter: return as_dim(r.xla->start_index_map[c]);
    case Op::kGather:
    case Op::kScatter:
    case Op::kGatherElements:
    case Op::kScatterElements: break;
  }
  return as_dim(r.axis);
}

int64_t coordinate_window(const Request& r, int c) {
  return r.xla ? r.xla->slice_sizes[coordinate_axis(r, c)] : 1;
}

Nest lower(const Request& r) {
  Nest nest;
  nest.element_bytes = r.data.dtype.bytes();
  nest.row_bytes = nest.element_bytes;
  nest.index_type = r.indices.dtype;
  nest.negative = r.rule.negative;
  nest.out_of_range = r.rule.out_of_range;
  if (r.rule.out_of_range == OutOfRange::kFill) {
    encode_fill_value(r, nest.fill_value);
  }
  nest.scatters = is_scatter(r.op);
  nest.reduction = r.reduction;
  if (r.reduction != Reduction::kNone) {
    nest.element_type = r.data.dtype;
  }
  LoopWriter loops(r, nest);
  switch (r.op) {
    case Op::kGather:
    case Op::kScatter: lower_gather(r, loops); break;
    case Op::kGatherElements:
    case Op::kScatterElements: lower_gather_elements(r, loops); break;
    case Op::kGatherNd:
    case Op::kScatterNd: lower_gather_nd(r, loops); break;
    case Op::kXlaGather:
    case Op::kXlaScatter: lower_xla(r, loops); break;
  }
  lower_coordinates(r, nest);
  return nest;
}

Nest lower_copy(const TensorSpec& from, const TensorSpec& to) {
  Nest nest;
  nest.element_bytes = to.dtype.bytes();
  nest.row_bytes = nest.element_bytes;
  for (int d = 0; d < to.rank(); ++d) {
    nest.loops.push_back({.extent = to.sizes[d],
                          .data = used_byte_stride(from, d),
                          .index = 0,
                          .output = used_byte_stride(to, d),
                          .window = 0});
  }
  return nest;
}

}  // namespace sheaf
