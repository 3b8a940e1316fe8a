// SPDX-License-Identifier: MIT
//
// The constraints of the general gather, in the order in which StableHLO numbers them.
#include <algorithm>

#include "plan/infer.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

bool contains(const Dims& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// Every entry of `dims` is one of [0, limit) and stands there once; `sorted` where asked.
void check_dims(const Request& r, const char* name, const Dims& dims, int64_t limit, bool sorted) {
  for (int i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= limit) {
      refuse(r, cat(name, " out of range"),
             cat(name, "[", i, "] = ", dims[i], ", but it names one of ",
                 counted(limit, "dimension", "dimensions"), " (allowed 0..", limit - 1, ")"),
             "dimensions that exist");
    }
    if (std::count(dims.begin(), dims.end(), dims[i]) > 1) {
      refuse(r, cat(name, " repeats a dimension"),
             cat(name, " names dimension ", dims[i], " twice"), "each dimension once");
    }
  }
  if (sorted && !std::is_sorted(dims.begin(), dims.end())) {
    refuse(r, cat(name, " is not sorted"), cat(name, " = ", bracketed(dims)), "ascending order");
  }
}

void check_apart(const Request& r, const char* name_a, const Dims& a, const char* name_b,
                 const Dims& b) {
  for (const int64_t d : a) {
    if (contains(b, d)) {
      refuse(r, cat(name_a, " meets ", name_b), cat("dimension ", d, " is in both"),
             "each dimension in one of the two");
    }
  }
}

void check_length(const Request& r, const char* name, int64_t length, int64_t expected,
                  const char* reason) {
  if (length != expected) {
    refuse(r, cat(name, " has the wrong length"),
           cat(name, " has ", counted(length, "entry", "entries"), ", but needs ", expected, " (",
               reason, ")"),
           cat("a list of ", expected));
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
          r, "slice size out of range",
          cat("slice_sizes[", d, "] = ", x.slice_sizes[d], ", but 0..", limit, " is allowed there"),
          "a slice that fits; 1 on collapsed and batching dimensions");
    }
  }
}

void check_batching(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  check_length(r, "start_indices_batching_dims", x.start_indices_batching_dims.size(),
               x.operand_batching_dims.size(), "one for each of operand_batching_dims");
  if (contains(x.start_indices_batching_dims, x.index_vector_dim)) {
    refuse(r, "start_indices_batching_dims holds index_vector_dim",
           cat("dimension ", x.index_vector_dim, " holds the index tuples"), "another dimension");
  }
  for (int i = 0; i < x.operand_batching_dims.size(); ++i) {
    const int64_t in_data = r.data.sizes[static_cast<int>(x.operand_batching_dims[i])];
    const int64_t in_indices = r.indices.sizes[static_cast<int>(x.start_indices_batching_dims[i])];
    if (in_data != in_indices) {
      refuse(r, "batch dimensions differ",
             cat("batching dimension ", i, " has ", in_data, " entries in data and ", in_indices,
                 " in indices"),
             "batching dimensions of equal size");
    }
  }
}

void check_xla(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  const int64_t rank = r.data.rank();
  const int64_t indices_rank = r.indices.rank();
  if (x.index_vector_dim < 0 || x.index_vector_dim > indices_rank) {
    refuse(
        r, "index_vector_dim out of range",
        cat("index_vector_dim = ", x.index_vector_dim, ", but indices has ",
            counted(indices_rank, "dimension", "dimensions"), " (allowed 0..", indices_rank, ")"),
        "the dimension that holds index tuples, or the rank of indices for single indices");
  }
  check_length(r, "slice_sizes", x.slice_sizes.size(), rank, "one for each dimension of data");
  check_dims(r, "collapsed_slice_dims", x.collapsed_slice_dims, rank, true);
  check_dims(r, "operand_batching_dims", x.operand_batching_dims, rank, true);
  check_apart(r, "collapsed_slice_dims", x.collapsed_slice_dims, "operand_batching_dims",
              x.operand_batching_dims);
  check_length(r, "offset_dims", x.offset_dims.size(),
               rank - x.collapsed_slice_dims.size() - x.operand_batching_dims.size(),
               "one for each dimension of data that is neither collapsed nor batching");
  const bool explicit_tuples = x.index_vector_dim < indices_rank;
  check_dims(r, "start_index_map", x.start_index_map, rank, false);
  check_length(r, "start_index_map", x.start_index_map.size(),
               explicit_tuples ? r.indices.sizes[static_cast<int>(x.index_vector_dim)] : 1,
               "one for each component of an index tuple");
  check_apart(r, "start_index_map", x.start_index_map, "operand_batching_dims",
              x.operand_batching_dims);
  check_dims(r, "start_indices_batching_dims", x.start_indices_batching_dims, indices_rank, false);
  check_batching(r);
  check_slices(r);
}

}  // namespace

Dims infer_xla_sizes(const Request& r) {
  check_xla(r);
  const XlaGatherOptions& x = *r.xla;
  const int64_t batch_rank = r.indices.rank() - (x.index_vector_dim < r.indices.rank() ? 1 : 0);
  const int64_t rank = batch_rank + x.offset_dims.size();
  if (rank > kMaxRank) {
    refuse(r, "too many dimensions",
           cat("the output would have ", rank, " dimensions, but at most ", kMaxRank,
               " are supported"),
           "merge dimensions that are adjacent in memory");
  }
  check_dims(r, "offset_dims", x.offset_dims, rank, true);
  Dims sizes;
  int from_indices = 0;
  int from_data = 0;
  bool empty_slice = std::count(x.slice_sizes.begin(), x.slice_sizes.end(), 0) > 0;
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
  // A collapsed dimension does not show in the output: a slice of size 0 there would have each
  // output element come from nowhere.
  if (empty_slice && std::count(sizes.begin(), sizes.end(), 0) == 0) {
    refuse(r, "slice is empty",
           cat("slice_sizes = ", bracketed(x.slice_sizes),
               " holds no element, "
               "but the output ",
               bracketed(sizes), " does"),
           "slice sizes of 1 or more");
  }
  return sizes;
}

}  // namespace sheaf
