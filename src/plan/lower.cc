// SPDX-License-Identifier: MIT
#include "plan/lower.h"

#include <algorithm>

#include "plan/memory.h"
#include "plan/scalar.h"

namespace sheaf {
namespace {

int as_dim(int64_t d) { return static_cast<int>(d); }

int position_in(const Dims& dims, int64_t d) {
  const auto* found = std::find(dims.begin(), dims.end(), d);
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

// Adds the loops of a nest in the order of the output's dimensions.
class LoopWriter {
 public:
  LoopWriter(const Request& request, Nest& nest) : r_(request), nest_(nest) {}

  // data_dim / index_dim: the dimension this output dimension walks along, -1 for none.
  void add(int data_dim, int index_dim) {
    const int d = nest_.loops.size();
    nest_.loops.push_back({.extent = r_.output.sizes[d],
                           .data = data_dim < 0 ? 0 : used_byte_stride(r_.data, data_dim),
                           .index = index_dim < 0 ? 0 : used_stride(r_.indices, index_dim),
                           .output = used_byte_stride(r_.output, d)});
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
  for (int d = 0; d < r.output.rank(); ++d) {
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
    nest.coordinates.push_back({.extent = places(r.data.sizes[axis], coordinate_window(r, c)),
                                .stride = used_byte_stride(r.data, axis),
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
    case Op::kGather:
    case Op::kGatherElements: return -1;
    case Op::kGatherNd: return r.indices.rank() - 1;
    case Op::kXlaGather:
      return r.xla->index_vector_dim < r.indices.rank() ? as_dim(r.xla->index_vector_dim) : -1;
  }
  return -1;
}

int coordinate_axis(const Request& r, int c) {
  switch (r.op) {
    case Op::kGather:
    case Op::kGatherElements: return as_dim(r.axis);
    case Op::kGatherNd: return as_dim(r.batch_dims) + c;
    case Op::kXlaGather: return as_dim(r.xla->start_index_map[c]);
  }
  return 0;
}

int64_t coordinate_window(const Request& r, int c) {
  return r.op == Op::kXlaGather ? r.xla->slice_sizes[coordinate_axis(r, c)] : 1;
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
  LoopWriter loops(r, nest);
  switch (r.op) {
    case Op::kGather: lower_gather(r, loops); break;
    case Op::kGatherElements: lower_gather_elements(r, loops); break;
    case Op::kGatherNd: lower_gather_nd(r, loops); break;
    case Op::kXlaGather: lower_xla(r, loops); break;
  }
  lower_coordinates(r, nest);
  return nest;
}

}  // namespace sheaf
