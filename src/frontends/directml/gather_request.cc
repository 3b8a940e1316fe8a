// SPDX-License-Identifier: MIT
#include "frontends/directml/gather_request.h"

#include <algorithm>

#include "plan/infer.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

struct Limits {
  UINT low, high;
};

void check_attribute(const OperatorDesc& op, const char* name, UINT value, Limits limits) {
  if (value < limits.low || value > limits.high) {
    refuse(op, cat(name, " out of range"),
           cat(name, " = ", value, ", but only ", limits.low, " to ", limits.high, " is possible"),
           cat(name, " from ", limits.low, " to ", limits.high));
  }
}

TensorSpec last_dims(const TensorSpec& spec, int count) {
  TensorSpec last;
  last.dtype = spec.dtype;
  for (int d = spec.rank() - count; d < spec.rank(); ++d) {
    last.sizes.push_back(spec.sizes[d]);
    last.strides.push_back(spec.strides[d]);
  }
  return last;
}

// The last `count` dimensions, which the attribute `attribute` has singled out; the others must be
// padding. (DirectML leaves open what they would mean, and its drivers disagree.)
TensorSpec real_dims(const OperatorDesc& op, const TensorDesc& tensor, const char* attribute,
                     UINT count) {
  const int padding = tensor.spec.rank() - static_cast<int>(count);
  for (int d = 0; d < padding; ++d) {
    if (tensor.spec.sizes[d] != 1) {
      refuse(op, cat(tensor.name, " has more dimensions than ", attribute, " says"),
             cat(attribute, " = ", count, ", but ", tensor.name, ".Sizes[", d,
                 "] = ", tensor.spec.sizes[d], " stands to the left of them and is not 1"),
             cat("a larger ", attribute, ", or size 1 there"));
    }
  }
  return last_dims(tensor.spec, static_cast<int>(count));
}

// How many dimensions before Axis are padding, or might as well be: leading ones.
int leading_ones_before_axis(const OperatorDesc& op, const Dims& sizes) {
  int ones = 0;
  while (ones < static_cast<int>(op.axis) && sizes[ones] == 1) {
    ++ones;
  }
  return ones;
}

void check_axis(const OperatorDesc& op, const Tensors& tensors) {
  check_attribute(op, "Axis", op.axis, {0, static_cast<UINT>(tensors.input.spec.rank()) - 1});
}

void gather(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  const int rank = tensors.input.spec.rank();
  check_axis(op, tensors);
  check_attribute(op, "IndexDimensions", op.index_dimensions, {0, static_cast<UINT>(rank)});
  const int padding = leading_ones_before_axis(op, tensors.input.spec.sizes);
  r.data = last_dims(tensors.input.spec, rank - padding);
  r.axis = int64_t{op.axis} - padding;
  r.indices = real_dims(op, tensors.indices, "IndexDimensions", op.index_dimensions);
  // IndexDimensions may have counted leading ones too (Example 3 of DML_GATHER_OPERATOR_DESC does):
  // those for which the output has no room are dropped.
  while (r.data.rank() - 1 + r.indices.rank() > rank && r.indices.sizes[0] == 1) {
    r.indices = last_dims(r.indices, r.indices.rank() - 1);
  }
}

void gather_elements(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  const TensorSpec& input = tensors.input.spec;
  const TensorSpec& indices = tensors.indices.spec;
  check_axis(op, tensors);
  for (int d = 0; d < input.rank(); ++d) {
    if (d != static_cast<int>(op.axis) && indices.sizes[d] != input.sizes[d]) {
      refuse(op, "shapes do not fit",
             cat("IndicesTensor.Sizes[", d, "] = ", indices.sizes[d], ", but InputTensor.Sizes[", d,
                 "] = ", input.sizes[d], "; only those of Axis may differ"),
             "equal sizes; to use a part of the input, give it smaller Sizes and its own Strides");
    }
  }
  const int rank = input.rank() - leading_ones_before_axis(op, input.sizes);
  r.data = last_dims(input, rank);
  r.indices = last_dims(indices, rank);
  r.axis = int64_t{op.axis} - (input.rank() - rank);
}

void gather_nd(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  const UINT rank = static_cast<UINT>(tensors.input.spec.rank());
  check_attribute(op, "InputDimensionCount", op.input_dimension_count, {1, rank});
  check_attribute(op, "IndicesDimensionCount", op.indices_dimension_count, {1, rank});
  const UINT least = std::min(op.input_dimension_count, op.indices_dimension_count);
  check_attribute(op, "BatchDimensionCount", op.batch_dimension_count, {0, least - 1});
  r.data = real_dims(op, tensors.input, "InputDimensionCount", op.input_dimension_count);
  r.indices = real_dims(op, tensors.indices, "IndicesDimensionCount", op.indices_dimension_count);
  r.batch_dims = op.batch_dimension_count;
}

// The output stands to the right of its dimensions, with ones on the left.
void place_output(const OperatorDesc& op, const TensorDesc& output, Request& r) {
  const Dims real = infer_sizes(r);
  const int rank = output.spec.rank();
  if (real.size() > rank) {
    refuse(op, "too few dimensions",
           cat("the output would be ", braced(real), ", but DimensionCount is ", rank),
           real.size() <= static_cast<int>(op.support->max_dimensions)
               ? cat("pad all tensors to ", real.size(), " dimensions with leading ones")
               : cat("merge dimensions; ", op.support->max_dimensions, " is the most"));
  }
  Dims padded(rank - real.size(), 1);
  for (const int64_t size : real) {
    padded.push_back(size);
  }
  if (output.spec.sizes != padded) {
    refuse(op, "output has the wrong shape",
           cat("OutputTensor.Sizes = ", braced(output.spec.sizes), ", but this operator makes ",
               braced(padded)),
           cat("OutputTensor.Sizes = ", braced(padded)));
  }
  r.output = last_dims(output.spec, real.size());
  r.output_given = true;
}

}  // namespace

Request make_request(const OperatorDesc& op, const Tensors& tensors) {
  Request r;
  r.op = op.info->op;
  r.name = op.info->name;
  r.rule = {.negative = Negative::kFromEnd, .out_of_range = OutOfRange::kClamp};
  switch (r.op) {
    case Op::kGather: gather(op, tensors, r); break;
    case Op::kGatherElements: gather_elements(op, tensors, r); break;
    default: gather_nd(op, tensors, r); break;
  }
  place_output(op, tensors.output, r);
  return r;
}

}  // namespace sheaf::dml::detail
