// SPDX-License-Identifier: MIT
//
// The constraints of the general gather, in the order in which StableHLO numbers them, and of the
// general scatter, which has the same under other names.
#include <algorithm>
#include <memory>

#include "plan/infer.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

// What the user calls each list of dimension numbers.
struct Names {
  const char *window, *collapsed, *batching, *indices_batching, *map;
};
constexpr Names kGatherNames{"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                             "start_indices_batching_dims", "start_index_map"};
constexpr Names kScatterNames{"update_window_dims", "inserted_window_dims", "input_batching_dims",
                              "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

const Names& names_of(const Request& r) { return is_scatter(r.op) ? kScatterNames : kGatherNames; }

bool contains(const Dims& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// Every entry of `dims` is one of [0, limit) and stands there once; `sorted` where asked.
void check_dims(const Request& r, const char* name, const Dims& dims, int64_t limit, bool sorted) {
  for (int i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= limit) {
      refuse(r, {Reason::kDimensions}, cat(name, " out of range"),
             cat(name, "[", i, "] = ", dims[i], ", but it names one of ",
                 counted(limit, "dimension", "dimensions"), " (allowed 0..", limit - 1, ")"),
             "dimensions that exist");
    }
    if (std::count(dims.begin(), dims.end(), dims[i]) > 1) {
      refuse(r, {Reason::kDimensions}, cat(name, " repeats a dimension"),
             cat(name, " names dimension ", dims[i], " twice"), "each dimension once");
    }
  }
  if (sorted && !std::is_sorted(dims.begin(), dims.end())) {
    refuse(r, {Reason::kDimensions}, cat(name, " is not sorted"), cat(name, " = ", bracketed(dims)),
           "ascending order");
  }
}

void check_apart(const Request& r, const char* name_a, const Dims& a, const char* name_b,
                 const Dims& b) {
  for (const int64_t d : a) {
    if (contains(b, d)) {
      refuse(r, {Reason::kDimensions}, cat(name_a, " meets ", name_b),
             cat("dimension ", d, " is in both"), "each dimension in one of the two");
    }
  }
}

void check_length(const Request& r, const char* name, int64_t length, int64_t expected,
                  const char* reason) {
  if (length != expected) {
    refuse(r, {Reason::kDimensions}, cat(name, " has the wrong length"),
           cat(name, " has ", counted(length, "entry", "entries"), ", but needs ", expected, " (",
               reason, ")"),
           cat("a list of ", expected));
  }
}

// A window has to fit into data. Along an inserted dimension it is 1 wide: where an index says
// where it goes, the index rule decides; without one it has to be there for each update.
void check_windows(const Request& r) {
  const bool has_updates = element_count(r.updates.sizes) > 0;
  for (int d = 0; d < r.data.rank(); ++d) {
    const bool inserted = contains(r.xla->collapsed_slice_dims, d);
    const bool fits_anyway = contains(r.xla->operand_batching_dims, d) ||
                             (inserted && (contains(r.xla->start_index_map, d) || !has_updates));
    if (!fits_anyway && r.xla->slice_sizes[d] > r.data.sizes[d]) {
      refuse(r, {Reason::kShape, "updates", d, {r.xla->slice_sizes[d]}, {r.data.sizes[d]}},
             "window larger than data",
             cat("updates have windows of ", r.xla->slice_sizes[d], " on axis ", d,
                 " of data, which has ", counted(r.data.sizes[d], "entry", "entries")),
             "updates whose windows fit into data");
    }
  }
}

void check_slices(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  for (int d = 0; d < r.data.rank(); ++d) {
    const int64_t limit =
        contains(x.collapsed_slice_dims, d) || contains(x.operand_batching_dims, d)
            ? std::min<int64_t>(1, r.data.sizes[d])
            : r.data.sizes[d];
    if (x.slice_sizes[d] < 0 || x.slice_sizes[d] > limit) {
      refuse(
          r, {Reason::kDimensions, "data", d, {x.slice_sizes[d]}, {limit}},
          "slice size out of range",
          cat("slice_sizes[", d, "] = ", x.slice_sizes[d], ", but 0..", limit, " is allowed there"),
          "a slice that fits; 1 on collapsed and batching dimensions");
    }
  }
}

void check_batching(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  const Names& names = names_of(r);
  check_length(r, names.indices_batching, x.start_indices_batching_dims.size(),
               x.operand_batching_dims.size(),
               is_scatter(r.op) ? "one for each of input_batching_dims"
                                : "one for each of operand_batching_dims");
  if (contains(x.start_indices_batching_dims, x.index_vector_dim)) {
    refuse(r, {Reason::kDimensions}, cat(names.indices_batching, " holds index_vector_dim"),
           cat("dimension ", x.index_vector_dim, " holds the index tuples"), "another dimension");
  }
  for (int i = 0; i < x.operand_batching_dims.size(); ++i) {
    const int64_t in_data = r.data.sizes[static_cast<int>(x.operand_batching_dims[i])];
    const int64_t in_indices = r.indices.sizes[static_cast<int>(x.start_indices_batching_dims[i])];
    if (in_data != in_indices) {
      refuse(r, {Reason::kShape, "indices", -1, {in_indices}, {in_data}}, "batch dimensions differ",
             cat("batching dimension ", i, " has ", in_data, " entries in data and ", in_indices,
                 " in indices"),
             "batching dimensions of equal size");
    }
  }
}

void check_dimension_numbers(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  const Names& names = names_of(r);
  const int64_t rank = r.data.rank();
  const int64_t indices_rank = r.indices.rank();
  if (x.index_vector_dim < 0 || x.index_vector_dim > indices_rank) {
    refuse(
        r, {Reason::kDimensions}, "index_vector_dim out of range",
        cat("index_vector_dim = ", x.index_vector_dim, ", but indices has ",
            counted(indices_rank, "dimension", "dimensions"), " (allowed 0..", indices_rank, ")"),
        "the dimension that holds index tuples, or the rank of indices for single indices");
  }
  check_dims(r, names.collapsed, x.collapsed_slice_dims, rank, true);
  check_dims(r, names.batching, x.operand_batching_dims, rank, true);
  check_apart(r, names.collapsed, x.collapsed_slice_dims, names.batching, x.operand_batching_dims);
  check_length(r, names.window, x.offset_dims.size(),
               rank - x.collapsed_slice_dims.size() - x.operand_batching_dims.size(),
               is_scatter(r.op)
                   ? "one for each dimension of data that is neither inserted nor batching"
                   : "one for each dimension of data that is neither collapsed nor batching");
  const bool explicit_tuples = x.index_vector_dim < indices_rank;
  check_dims(r, names.map, x.start_index_map, rank, false);
  check_length(r, names.map, x.start_index_map.size(),
               explicit_tuples ? r.indices.sizes[static_cast<int>(x.index_vector_dim)] : 1,
               "one for each component of an index tuple");
  check_apart(r, names.map, x.start_index_map, names.batching, x.operand_batching_dims);
  check_dims(r, names.indices_batching, x.start_indices_batching_dims, indices_rank, false);
  check_batching(r);
}

// The number of dimensions of the grid; the window's stand where offset_dims says.
int64_t check_grid_rank(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  const int64_t batch_rank = r.indices.rank() - (x.index_vector_dim < r.indices.rank() ? 1 : 0);
  const int64_t rank = batch_rank + x.offset_dims.size();
  if (rank > kMaxRank) {
    refuse(r, {Reason::kRank, is_scatter(r.op) ? "updates" : "output"}, "too many dimensions",
           cat("the ", is_scatter(r.op) ? "updates" : "output", " would have ", rank,
               " dimensions, but at most ", kMaxRank, " are supported"),
           "merge dimensions that are adjacent in memory");
  }
  check_dims(r, names_of(r).window, x.offset_dims, rank, true);
  return rank;
}

// A scatter's windows are as large as its updates say.
void take_slices_from_updates(Request& r, int64_t rank) {
  if (r.updates.rank() != rank) {
    refuse(r, {Reason::kRank, "updates", -1, {r.updates.rank()}, {rank}},
           "updates have the wrong rank",
           cat("updates has ", counted(r.updates.rank(), "dimension", "dimensions"),
               ", but the indices and update_window_dims make ", rank),
           cat("updates of ", counted(rank, "dimension", "dimensions")));
  }
  XlaGatherOptions& x = *r.xla;
  x.slice_sizes = Dims(r.data.rank(), 1);
  int window = 0;
  for (int d = 0; d < r.data.rank(); ++d) {
    if (!contains(x.collapsed_slice_dims, d) && !contains(x.operand_batching_dims, d)) {
      x.slice_sizes[d] = r.updates.sizes[static_cast<int>(x.offset_dims[window++])];
    }
  }
}

// The sizes of the grid: windows and index dimensions, each at its place.
Dims grid_sizes(const Request& r, int64_t rank) {
  const XlaGatherOptions& x = *r.xla;
  Dims sizes;
  int from_indices = 0;
  int from_data = 0;
  for (int d = 0; d < rank; ++d) {
    if (contains(x.offset_dims, d)) {
      while (contains(x.collapsed_slice_dims, from_data) ||
             contains(x.operand_batching_dims, from_data)) {
        ++from_data;
      }
      sizes.push_back(x.slice_sizes[from_data++]);
    } else {
      from_indices += from_indices == x.index_vector_dim ? 1 : 0;
      sizes.push_back(r.indices.sizes[from_indices++]);
    }
  }
  return sizes;
}

}  // namespace

Dims infer_xla_sizes(Request& r) {
  if (!is_scatter(r.op)) {
    check_length(r, "slice_sizes", r.xla->slice_sizes.size(), r.data.rank(),
                 "one for each dimension of data");
  }
  check_dimension_numbers(r);
  const int64_t rank = check_grid_rank(r);
  if (is_scatter(r.op)) {
    take_slices_from_updates(r, rank);
    check_windows(r);
    return grid_sizes(r, rank);
  }
  check_slices(r);
  const Dims sizes = grid_sizes(r, rank);
  // A collapsed dimension does not show in the output: a slice of size 0 there would have each
  // output element come from nowhere.
  const Dims& slices = r.xla->slice_sizes;
  if (std::count(slices.begin(), slices.end(), 0) > 0 &&
      std::count(sizes.begin(), sizes.end(), 0) == 0) {
    refuse(r, {Reason::kDimensions, {}, -1, slices}, "slice is empty",
           cat("slice_sizes = ", bracketed(slices), " holds no element, but the output ",
               bracketed(sizes), " does"),
           "slice sizes of 1 or more");
  }
  return sizes;
}

}  // namespace sheaf
