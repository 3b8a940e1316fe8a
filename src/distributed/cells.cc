// SPDX-License-Identifier: MIT
#include "distributed/cells.h"

#include <algorithm>

#include "plan/byte_ranges.h"
#include "plan/lower.h"
#include "plan/refuse.h"
#include "plan/resolve.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

// The sizes of a plan multiply to an int64 even where some of them are 0.
int64_t product(const Dims& sizes, int from, int to) {
  int64_t result = 1;
  for (int d = from; d < to; ++d) {
    result *= sizes[d];
  }
  return result;
}

// A row of a tensor without entries may still be longer than any memory.
int64_t bytes_of(const Request& r, int64_t elements) {
  const auto bytes = checked_mul(elements, r.data.dtype.bytes());
  if (!bytes) {
    refuse(r, {Reason::kTooLarge, "data"}, "tensor too large",
           cat("a row of ", elements, " elements has more than 2^63 - 1 bytes"),
           "check how the shape was computed");
  }
  return *bytes;
}

bool is_elements(const Request& r) {
  return r.op == Op::kGatherElements || r.op == Op::kScatterElements;
}
bool is_nd(const Request& r) { return r.op == Op::kGatherNd || r.op == Op::kScatterNd; }

bool in_cell(const Request& r, int axis) {
  if (is_elements(r)) {
    return true;
  }
  const auto batch = static_cast<int>(r.batch_dims);
  return is_nd(r) ? axis < batch + r.indices.sizes.back() : axis < batch || axis == r.axis;
}

// Cells per step along each axis of data.
Dims cell_strides(const Request& r, CellSpace& space) {
  const int split = coordinate_axis(r, 0);
  Dims strides(r.data.rank(), 0);
  for (int d = r.data.rank() - 1; d >= 0; --d) {
    if (in_cell(r, d) && d != split) {
      strides[d] = space.inner;
      space.inner *= r.data.sizes[d];
    }
  }
  strides[split] = space.inner;
  space.cell_axes.push_back(split);
  for (int d = 0; d < r.data.rank(); ++d) {
    if (d != split) {
      (in_cell(r, d) ? space.cell_axes : space.slice_axes).push_back(d);
    }
  }
  return strides;
}

void add_walk(const Request& r, const Dims& strides, CellSpace& space) {
  const int tuple = tuple_dim(r);
  for (int d = 0; d < r.indices.rank(); ++d) {
    if (d == tuple) {
      continue;
    }
    // gather_elements may stretch indices or data of size 1 along the grid.
    const int64_t extent = is_elements(r) ? r.grid().sizes[d] : r.indices.sizes[d];
    const bool along_data = is_elements(r) ? d != r.axis && r.data.sizes[d] > 1 : d < r.batch_dims;
    space.dims.push_back({extent, r.indices.sizes[d] > 1 ? used_stride(r.indices, d) : 0,
                          along_data ? strides[d] : 0});
    space.tuples *= extent;
  }
  const int64_t count = tuple < 0 ? 1 : r.indices.sizes[tuple];
  for (int c = 0; c < count; ++c) {
    const int axis = coordinate_axis(r, c);
    space.components.push_back(
        {r.data.sizes[axis], tuple < 0 ? 0 : c * used_stride(r.indices, tuple), strides[axis]});
  }
}

template <class Index>
struct CellWalk {
  const CellSpace& space;
  Negative negative;
  OutOfRange out_of_range;
  const std::byte* indices;

  int64_t cell(int64_t element, int64_t position) const {
    int64_t cell = position;
    for (const auto& c : space.components) {
      const int64_t entry =
          entry_of(load_index<Index>(indices, element + c.index_offset), c.extent);
      if (entry == kOutside) {
        return kNoCell;
      }
      cell += entry * c.cell_stride;
    }
    return cell;
  }

  // Most indices name an entry as they are.
  int64_t entry_of(Index value, int64_t extent) const {
    const int64_t at = widen(value);
    return static_cast<uint64_t>(at) < static_cast<uint64_t>(extent)
               ? at
               : resolve(value, extent, negative, out_of_range);
  }

  // Cells of neighbours with a single index each.
  void run_of_one(int64_t element, int64_t position, const CellSpace::WalkDim& run, int64_t length,
                  int64_t* cells) const {
    // Copies: the compiler would reload what a reference refers to after every store of a cell.
    const CellWalk walk = *this;
    const CellSpace::Component c = space.components[0];
    const CellSpace::WalkDim step = run;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = element + c.index_offset + i * step.index_stride;
      const int64_t entry = walk.entry_of(load_index<Index>(walk.indices, at), c.extent);
      cells[i] =
          entry == kOutside ? kNoCell : position + i * step.cell_stride + entry * c.cell_stride;
    }
  }

  // Runs along the last dimension; an odometer over the others.
  void walk(int64_t first, int64_t count, int64_t* cells) const {
    const int last = space.dims.size() - 1;
    if (last < 0) {
      std::fill_n(cells, count, cell(0, 0));
      return;
    }
    Dims at(last + 1, 0);
    for (int d = last; d >= 0; --d) {
      at[d] = first % space.dims[d].extent;
      first /= space.dims[d].extent;
    }
    while (count > 0) {
      int64_t element = 0, position = 0;
      for (int d = 0; d <= last; ++d) {
        element += at[d] * space.dims[d].index_stride;
        position += at[d] * space.dims[d].cell_stride;
      }
      const auto& run = space.dims[last];
      const int64_t length = std::min(count, run.extent - at[last]);
      if (space.components.size() == 1) {
        run_of_one(element, position, run, length, cells);
      } else {
        for (int64_t i = 0; i < length; ++i) {
          cells[i] = cell(element + i * run.index_stride, position + i * run.cell_stride);
        }
      }
      cells += length;
      count -= length;
      at[last] += length;
      for (int d = last; d > 0 && at[d] == space.dims[d].extent; --d) {
        at[d] = 0;
        ++at[d - 1];
      }
    }
  }
};

}  // namespace

CellSpace cell_space(const Plan& plan) {
  const Request& r = plan.request();
  CellSpace space;
  const Dims strides = cell_strides(r, space);
  add_walk(r, strides, space);
  if (is_elements(r)) {
    space.after_bytes = r.data.dtype.bytes();
  } else if (is_nd(r)) {
    const auto end = static_cast<int>(r.batch_dims + r.indices.sizes.back());
    space.after_bytes = bytes_of(r, product(r.data.sizes, end, r.data.rank()));
  } else {
    const auto axis = static_cast<int>(r.axis);
    space.before = product(r.data.sizes, static_cast<int>(r.batch_dims), axis);
    const int64_t after = product(r.data.sizes, axis + 1, r.data.rank());
    space.after_bytes = bytes_of(r, after);
    bytes_of(r, space.before * after);  // all of the row
  }
  space.section_tuples = space.tuples;
  if (space.before != 1) {
    space.section_tuples =
        product(r.indices.sizes, static_cast<int>(r.batch_dims), r.indices.rank());
  }
  return space;
}

void read_cells(const CellSpace& space, const Plan& plan, const void* indices, int64_t first,
                int64_t count, int64_t* cells) {
  if (count == 0) {
    return;
  }
  // Trusted indices have been checked, too: one that has changed since has no cell.
  const OutOfRange rule =
      plan.nest().out_of_range == OutOfRange::kTrust ? OutOfRange::kFail : plan.nest().out_of_range;
  with_index_type(plan.indices().dtype, [&](auto zero) {
    CellWalk<decltype(zero)>{space, plan.nest().negative, rule,
                             static_cast<const std::byte*>(indices)}
        .walk(first, count, cells);
  });
}

}  // namespace sheaf::distributed
