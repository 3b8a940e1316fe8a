// SPDX-License-Identifier: MIT
#include "plan/infer.h"

#include <algorithm>
#include <span>

#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf {
namespace {

void check_rule(const Request& r) {
  const OutOfRangeRow* row = find_row(kOutOfRanges, r.rule.out_of_range);
  if (row == nullptr || find_row(kNegatives, r.rule.negative) == nullptr) {
    refuse(r, {Reason::kIndexRule}, "unknown index rule",
           cat("negative = ", static_cast<int>(r.rule.negative),
               " and out_of_range = ", static_cast<int>(r.rule.out_of_range), ", but 0..",
               kNegatives.size() - 1, " and 0..", kOutOfRanges.size() - 1, " have a meaning"),
           "one of the named rules");
  }
  if (is_scatter(r.op) && !row->scatters) {
    refuse(r, {Reason::kIndexRule}, "index rule of another operator",
           cat("out_of_range = ", row->name,
               ", but there is no output element to fill for an update that goes nowhere"),
           "out_of_range = skip");
  }
  if (!is_scatter(r.op) && !row->gathers) {
    refuse(r, {Reason::kIndexRule}, "index rule of another operator",
           cat("out_of_range = ", row->name, ", but an output element has to come from somewhere"),
           "out_of_range = fill");
  }
}

void check_tensor(const Request& r, const char* tensor, const TensorSpec& spec) {
  if (!spec.dtype.is_known()) {
    refuse(r, {Reason::kType, tensor}, "unknown element type",
           cat(tensor, " has elements of kind ", static_cast<int>(spec.dtype.kind()), " and ",
               counted(spec.dtype.bytes(), "byte", "bytes")),
           "one of the named types, or opaque elements of 1 to 64 bytes");
  }
  if (spec.strides.size() != spec.sizes.size()) {
    refuse(r, {Reason::kStrides, tensor}, "strides do not match sizes",
           cat(tensor, " has ", spec.sizes.size(), " sizes but ", spec.strides.size(), " strides"),
           "give one stride, in elements, for each dimension");
  }
  for (int d = 0; d < spec.rank(); ++d) {
    if (spec.sizes[d] < 0) {
      refuse(r, {Reason::kShape, tensor, d, spec.sizes}, "negative size",
             cat(tensor, ".sizes[", d, "] = ", spec.sizes[d], ", but sizes are 0 or more"),
             "check how the shape was computed");
    }
  }
  try {
    element_count(spec.sizes);
  } catch (const Error&) {
    refuse(r, {Reason::kTooLarge, tensor}, "tensor too large",
           cat("the sizes of ", tensor, " multiply to more than 2^63 - 1"),
           "check how the shape was computed");
  }
  if (!byte_range(spec)) {
    refuse(r, {Reason::kTooLarge, tensor}, "tensor too large",
           cat("the strides of ", tensor, " reach further than 2^63 - 1 bytes"),
           "check the strides; they are in elements, not in bytes");
  }
}

int64_t normal_axis(const Request& r) {
  const int64_t rank = r.data.rank();
  if (rank == 0) {
    refuse(r, {Reason::kRank, "data"}, "data is a scalar",
           cat("axis = ", r.axis, ", but data has no dimensions"), "reshape data to [1]");
  }
  if (r.axis < -rank || r.axis >= rank) {
    refuse(r, {Reason::kAxis, "data", -1, {r.axis}}, "axis out of range",
           cat("axis = ", r.axis, ", but data has ", counted(rank, "dimension", "dimensions"),
               " (allowed ", -rank, "..", rank - 1, ")"),
           cat("an axis from ", -rank, " to ", rank - 1));
  }
  return r.axis < 0 ? r.axis + rank : r.axis;
}

// `limit`: the most batch dimensions that the operator's other arguments leave room for.
int64_t normal_batch_dims(const Request& r, int64_t limit, const char* reason) {
  const int64_t indices_rank = r.indices.rank();
  const int64_t batch_dims = r.batch_dims < 0 && r.batch_dims >= -indices_rank
                                 ? r.batch_dims + indices_rank
                                 : r.batch_dims;
  if (batch_dims < 0 || batch_dims > limit) {
    refuse(r, {Reason::kBatchDims, {}, -1, {r.batch_dims}, {limit}}, "batch_dims out of range",
           cat("batch_dims = ", r.batch_dims, ", but at most ", limit, " fit (", reason, ")"),
           cat("batch_dims from 0 to ", limit));
  }
  for (int d = 0; d < batch_dims; ++d) {
    if (r.data.sizes[d] != r.indices.sizes[d]) {
      refuse(r, {Reason::kShape, "indices", d, r.indices.sizes, r.data.sizes},
             "batch dimensions differ",
             cat("dimension ", d, " is a batch dimension, but data has ", r.data.sizes[d],
                 " entries there and indices ", r.indices.sizes[d]),
             "batch dimensions of equal size, or fewer batch_dims");
    }
  }
  return batch_dims;
}

void check_output_rank(const Request& r, int64_t rank) {
  if (rank > kMaxRank) {
    refuse(r, {Reason::kRank, is_scatter(r.op) ? "updates" : "output"}, "too many dimensions",
           cat("the ", is_scatter(r.op) ? "updates" : "output", " would have ", rank,
               " dimensions, but at most ", kMaxRank, " are supported"),
           "merge dimensions that are adjacent in memory");
  }
}

Dims gather_sizes(Request& r) {
  r.axis = normal_axis(r);
  const int64_t limit = std::min<int64_t>(r.axis, r.indices.rank());
  r.batch_dims =
      normal_batch_dims(r, limit, "they stand before axis, and indices must have them too");
  check_output_rank(r, r.data.rank() - 1 + r.indices.rank() - r.batch_dims);
  Dims sizes;
  for (int d = 0; d < r.axis; ++d) {
    sizes.push_back(r.data.sizes[d]);
  }
  for (int d = static_cast<int>(r.batch_dims); d < r.indices.rank(); ++d) {
    sizes.push_back(r.indices.sizes[d]);
  }
  for (int d = static_cast<int>(r.axis) + 1; d < r.data.rank(); ++d) {
    sizes.push_back(r.data.sizes[d]);
  }
  return sizes;
}

Dims gather_elements_sizes(Request& r) {
  r.axis = normal_axis(r);
  if (r.indices.rank() != r.data.rank()) {
    refuse(r, {Reason::kRank, "indices"}, "ranks differ",
           cat("indices has ", counted(r.indices.rank(), "dimension", "dimensions"),
               ", but data has ", r.data.rank()),
           is_scatter(r.op) ? "indices of the same rank as data; to write whole slices use scatter"
                            : "indices of the same rank as data; to take whole slices use gather");
  }
  Dims sizes = r.indices.sizes;
  for (int d = 0; d < r.data.rank(); ++d) {
    const int64_t in_data = r.data.sizes[d];
    const int64_t in_indices = r.indices.sizes[d];
    if (d == r.axis) {
      continue;
    }
    const bool fits = r.broadcast ? in_data == in_indices || in_data == 1 || in_indices == 1
                                  : in_indices <= in_data;
    if (!fits) {
      refuse(r, {Reason::kShape, "indices", d, r.indices.sizes, r.data.sizes}, "shapes do not fit",
             cat("dimension ", d, " of indices has ", in_indices, " entries, but data has ",
                 in_data, " there"),
             r.broadcast        ? "equal sizes, or size 1 in one of the two, off the axis"
             : is_scatter(r.op) ? "indices no larger than data off the axis"
                                : "indices no larger than data off the axis, or broadcast = true");
    }
    if (r.broadcast) {
      sizes[d] = in_indices == 1 ? in_data : in_indices;
    }
  }
  return sizes;
}

Dims gather_nd_sizes(Request& r) {
  if (r.indices.rank() == 0) {
    refuse(r, {Reason::kRank, "indices"}, "indices is a scalar",
           "the last dimension of indices holds the index tuples", "reshape indices to [1]");
  }
  const int64_t limit = std::min<int64_t>(r.indices.rank() - 1, r.data.rank());
  r.batch_dims = normal_batch_dims(
      r, limit, "the last dimension of indices holds tuples, and data must have them too");
  const int64_t tuple = r.indices.sizes.back();
  const int64_t left = r.data.rank() - r.batch_dims;
  if (tuple > left) {
    refuse(r, {Reason::kShape, "indices", r.indices.rank() - 1, {tuple}, {left}},
           "index tuples too long",
           cat("the last dimension of indices holds tuples of ", tuple, ", but data has ",
               counted(left, "dimension", "dimensions"), " for them"),
           cat("tuples of at most ", left));
  }
  check_output_rank(r, r.indices.rank() - 1 + left - tuple);
  Dims sizes = r.indices.sizes;
  sizes.pop_back();
  for (int d = static_cast<int>(r.batch_dims + tuple); d < r.data.rank(); ++d) {
    sizes.push_back(r.data.sizes[d]);
  }
  return sizes;
}

void check_given_output(const Request& r, const Dims& sizes) {
  if (r.output.dtype != r.data.dtype) {
    refuse(r, {Reason::kType, "output"}, "types differ",
           cat("output is ", r.output.dtype.name(), ", but data is ", r.data.dtype.name()),
           cat("an output of type ", r.data.dtype.name(), "; nothing is converted"));
  }
  if (r.output.sizes != sizes) {
    refuse(r, {Reason::kShape, "output", -1, r.output.sizes, sizes}, "output has the wrong shape",
           cat("output is ", bracketed(r.output.sizes), ", but this call makes ", bracketed(sizes)),
           cat("an output of shape ", bracketed(sizes)));
  }
  if (!elements_disjoint(r.output)) {
    refuse(r, {Reason::kStrides, "output"}, "output overlaps itself",
           cat("strides ", bracketed(r.output.strides), " place several elements in one spot"),
           "an output whose strides keep its elements apart");
  }
}

// DirectML pads all tensors of a call to one rank with leading ones. What is left of a grid that
// is padded with anything else is refused by the check of its shape.
void drop_padding(TensorSpec& grid, int rank) {
  int padding = 0;
  while (grid.rank() - padding > rank && grid.sizes[padding] == 1) {
    ++padding;
  }
  if (grid.rank() - padding == rank) {
    const auto without_padding = [&](const Dims& dims) {
      return Dims(std::span<const int64_t>(dims.begin() + padding, dims.end()));
    };
    grid.sizes = without_padding(grid.sizes);
    grid.strides = without_padding(grid.strides);
  }
}

TensorSpec contiguous(const Request& r, const char* tensor, const Dims& sizes) {
  try {
    TensorSpec spec(r.data.dtype, sizes);
    if (byte_range(spec)) {
      return spec;
    }
  } catch (const Error&) {  // the sizes multiply to more than int64 holds
  }
  refuse(r, {Reason::kTooLarge, tensor}, cat(tensor, " too large"),
         cat("the ", tensor, " would be ", r.data.dtype.name(), bracketed(sizes),
             ": more than 2^63 - 1 bytes"),
         sizes == r.data.sizes ? "smaller data" : "fewer indices per call");
}

}  // namespace

Dims infer_sizes(Request& r) {
  switch (r.op) {
    case Op::kGather:
    case Op::kScatter: return gather_sizes(r);
    case Op::kGatherElements:
    case Op::kScatterElements: return gather_elements_sizes(r);
    case Op::kGatherNd:
    case Op::kScatterNd: return gather_nd_sizes(r);
    case Op::kXlaGather:
    case Op::kXlaScatter: break;
  }
  return infer_xla_sizes(r);
}

void infer(Request& r) {
  check_rule(r);
  check_tensor(r, "data", r.data);
  check_tensor(r, "indices", r.indices);
  if (is_scatter(r.op)) {
    if (r.updates_given) {
      check_tensor(r, "updates", r.updates);
    }
    check_reduction(r);
  }
  if (!r.indices.dtype.is_integer()) {
    refuse(r, {Reason::kType, "indices"}, "indices are not integers",
           cat("indices is ", r.indices.dtype.name(), ", but i8 to i64 or u8 to u64 are needed"),
           "convert indices to i64");
  }
  Dims sizes = infer_sizes(r);
  if (r.grid_is_padded) {
    drop_padding(r.grid(), sizes.size());
  }
  if (is_scatter(r.op)) {
    if (!r.updates_given) {
      r.updates = contiguous(r, "updates", sizes);
      r.updates_given = true;
    }
    check_updates(r, sizes);
    sizes = r.data.sizes;
  }
  if (r.output_given) {
    check_tensor(r, "output", r.output);
    check_given_output(r, sizes);
  } else {
    r.output = contiguous(r, "output", sizes);
    r.output_given = true;  // from here on it is known, and errors show it
  }
}

}  // namespace sheaf
