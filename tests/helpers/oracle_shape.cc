// SPDX-License-Identifier: MIT
//
// Which calls make sense, and what shape comes out.
#include <algorithm>
#include <set>

#include "helpers/oracle.h"

namespace oracle {
namespace {

bool in(int64_t value, int64_t low, int64_t beyond) { return low <= value && value < beyond; }

void append(Shape& to, const Shape& from, int64_t first, int64_t beyond) {
  to.insert(to.end(), from.begin() + first, from.begin() + beyond);
}

bool unique(const Shape& dims) {
  return std::set<int64_t>(dims.begin(), dims.end()).size() == dims.size();
}

bool sorted(const Shape& dims) { return std::is_sorted(dims.begin(), dims.end()); }

bool all_in(const Shape& dims, int64_t beyond) {
  return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return in(d, 0, beyond); });
}

Shape joined(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// batch_dims stand for the same leading dimensions of data and indices.
bool batch_fits(const Problem& p, int64_t most) {
  const int64_t batch = from_front(p.batch_dims, p.indices.size());
  return in(batch, 0, most + 1) &&
         std::equal(p.data.begin(), p.data.begin() + batch, p.indices.begin());
}

bool gather_shape(const Problem& p, Shape& shape) {
  if (!in(p.axis, -rank(p.data), rank(p.data))) {
    return false;
  }
  const int64_t axis = from_front(p.axis, p.data.size());
  if (!batch_fits(p, std::min(axis, rank(p.indices)))) {
    return false;
  }
  append(shape, p.data, 0, axis);
  append(shape, p.indices, from_front(p.batch_dims, p.indices.size()), rank(p.indices));
  append(shape, p.data, axis + 1, rank(p.data));
  return true;
}

bool gather_elements_shape(const Problem& p, Shape& shape) {
  if (!in(p.axis, -rank(p.data), rank(p.data)) || p.indices.size() != p.data.size()) {
    return false;
  }
  const auto axis = static_cast<size_t>(from_front(p.axis, p.data.size()));
  for (size_t d = 0; d < p.data.size(); ++d) {
    const int64_t a = p.data[d];
    const int64_t b = p.indices[d];
    if (d == axis || a == b) {
      shape.push_back(b);
    } else if (p.broadcast && (a == 1 || b == 1)) {
      shape.push_back(a == 1 ? b : a);
    } else if (!p.broadcast && b < a) {
      shape.push_back(b);
    } else {
      return false;
    }
  }
  return true;
}

bool gather_nd_shape(const Problem& p, Shape& shape) {
  if (p.indices.empty() || !batch_fits(p, std::min(rank(p.indices) - 1, rank(p.data)))) {
    return false;
  }
  const int64_t used = from_front(p.batch_dims, p.indices.size()) + p.indices.back();
  if (used > rank(p.data)) {
    return false;
  }
  append(shape, p.indices, 0, rank(p.indices) - 1);
  append(shape, p.data, used, rank(p.data));
  return true;
}

// The numbers are those of StableHLO's constraints on gather.
bool xla_fits(const Problem& p) {
  const Shape apart = joined(p.collapsed_slice_dims, p.operand_batching_dims);
  if (rank(p.data) != rank(p.offset_dims) + rank(apart) ||  // C1
      !in(p.index_vector_dim, 0, rank(p.indices) + 1)) {    // C2
    return false;
  }
  const bool tuples = p.index_vector_dim < rank(p.indices);
  const int64_t components = tuples ? p.indices[static_cast<size_t>(p.index_vector_dim)] : 1;
  const int64_t result_rank = rank(p.offset_dims) + rank(p.indices) - (tuples ? 1 : 0);
  return rank(p.start_index_map) == components &&                              // C3
         unique(p.offset_dims) && sorted(p.offset_dims) &&                     // C4
         all_in(p.offset_dims, result_rank) &&                                 // C5
         unique(apart) && all_in(apart, rank(p.data)) &&                       // C6, C8, C11
         sorted(p.collapsed_slice_dims) && sorted(p.operand_batching_dims) &&  // C7, C10
         unique(p.start_indices_batching_dims) &&                              // C13
         all_in(p.start_indices_batching_dims, rank(p.indices)) &&             // C14
         std::count(p.start_indices_batching_dims.begin(), p.start_indices_batching_dims.end(),
                    p.index_vector_dim) == 0 &&                                     // C15
         p.operand_batching_dims.size() == p.start_indices_batching_dims.size() &&  // C16
         unique(joined(p.start_index_map, p.operand_batching_dims)) &&              // C18
         all_in(p.start_index_map, rank(p.data)) &&
         p.slice_sizes.size() == p.data.size();  // C19,20
}

bool xla_slices_fit(const Problem& p) {
  for (size_t b = 0; b < p.operand_batching_dims.size(); ++b) {  // C17
    if (p.data[static_cast<size_t>(p.operand_batching_dims[b])] !=
        p.indices[static_cast<size_t>(p.start_indices_batching_dims[b])]) {
      return false;
    }
  }
  const Shape hidden = joined(p.collapsed_slice_dims, p.operand_batching_dims);
  for (const int64_t d : hidden) {
    if (p.slice_sizes[static_cast<size_t>(d)] > 1) {  // C9, C12
      return false;
    }
  }
  for (size_t d = 0; d < p.data.size(); ++d) {
    // A scatter has windows only where they show: a hidden dimension may be empty.
    const bool shows = std::count(hidden.begin(), hidden.end(), static_cast<int64_t>(d)) == 0;
    if ((!p.scatters || shows) && !in(p.slice_sizes[d], 0, p.data[d] + 1)) {  // C21
      return false;
    }
  }
  return true;
}

bool xla_shape(const Problem& p, Shape& shape) {
  if (!xla_fits(p) || !xla_slices_fit(p)) {
    return false;
  }
  Shape batch_sizes = p.indices;
  if (p.index_vector_dim < rank(p.indices)) {
    batch_sizes.erase(batch_sizes.begin() + p.index_vector_dim);
  }
  Shape offset_sizes;
  const Shape hidden = joined(p.collapsed_slice_dims, p.operand_batching_dims);
  for (size_t d = 0; d < p.data.size(); ++d) {
    if (std::count(hidden.begin(), hidden.end(), static_cast<int64_t>(d)) == 0) {
      offset_sizes.push_back(p.slice_sizes[d]);
    }
  }
  auto offset = offset_sizes.begin();
  auto batch = batch_sizes.begin();
  for (int64_t d = 0; d < rank(offset_sizes) + rank(batch_sizes); ++d) {
    const bool is_offset = std::count(p.offset_dims.begin(), p.offset_dims.end(), d) > 0;
    shape.push_back(is_offset ? *offset++ : *batch++);
  }
  // StableHLO leaves open what an output element is that comes from a slice without elements: Sheaf
  // refuses to make one.
  if (!p.scatters) {
    return element_count(p.slice_sizes) > 0 || element_count(shape) == 0;
  }
  // Nor can an update go to a hidden dimension without entries that no index speaks of.
  for (const int64_t d : p.collapsed_slice_dims) {
    const bool indexed = std::count(p.start_index_map.begin(), p.start_index_map.end(), d) > 0;
    if (!indexed && p.data[static_cast<size_t>(d)] == 0 && element_count(shape) > 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool output_shape(const Problem& p, Shape& shape) {
  shape.clear();
  switch (p.op) {
    case Op::kGather: return gather_shape(p, shape);
    case Op::kGatherElements: return gather_elements_shape(p, shape);
    case Op::kGatherNd: return gather_nd_shape(p, shape);
    case Op::kXlaGather: return xla_shape(p, shape);
  }
  return false;
}

}  // namespace oracle
