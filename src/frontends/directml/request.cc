// SPDX-License-Identifier: MIT
#include "frontends/directml/request.h"

#include <algorithm>

#include "frontends/directml/refusal.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

struct Limits {
  UINT low, high;
};

void check_attribute(const OperatorDesc& op, const char* name, UINT value, Limits limits) {
  if (value < limits.low || value > limits.high) {
    refuse(op, {Reason::kOption}, cat(name, " out of range"),
           cat(name, " = ", value, ", but only ", limits.low, " to ", limits.high, " is possible"),
           cat(name, " from ", limits.low, " to ", limits.high));
  }
}

void check_axis(const OperatorDesc& op, const Tensors& tensors) {
  check_attribute(op, "Axis", op.axis, {0, static_cast<UINT>(tensors.input.spec.rank()) - 1});
}

// Refuses indices that differ from the input elsewhere than at Axis; `next` is the advice. Where
// smaller ones are allowed, the plan refuses larger ones.
void check_elements(const OperatorDesc& op, const Tensors& tensors, const char* next) {
  const Dims& input = tensors.input.spec.sizes;
  const Dims& indices = tensors.indices.spec.sizes;
  for (int d = 0; d < input.size(); ++d) {
    const bool fits = indices[d] == input[d] || (op.smaller_indices && indices[d] < input[d]);
    if (d != static_cast<int>(op.axis) && !fits) {
      refuse(op, {Reason::kShape}, "shapes do not fit",
             cat("IndicesTensor.Sizes[", d, "] = ", indices[d], ", but InputTensor.Sizes[", d,
                 "] = ", input[d], "; only those of Axis may differ"),
             next);
    }
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

// The last `count` dimensions, which `attribute` counts; the others must be padding. (DirectML
// leaves open what they would mean, and its drivers disagree.)
TensorSpec real_dims(const OperatorDesc& op, const TensorDesc& tensor, const char* attribute,
                     UINT count) {
  const int padding = tensor.spec.rank() - static_cast<int>(count);
  for (int d = 0; d < padding; ++d) {
    if (tensor.spec.sizes[d] != 1) {
      refuse(op, {Reason::kRank},
             cat(tensor.name, " has more dimensions than ", attribute, " says"),
             cat(attribute, " = ", count, ", but ", tensor.name, ".Sizes[", d,
                 "] = ", tensor.spec.sizes[d], " stands to the left of them and is not 1"),
             cat("a larger ", attribute, ", or size 1 there"));
    }
  }
  return last_dims(tensor.spec, static_cast<int>(count));
}

// How many dimensions before Axis can be dropped because they are 1.
int leading_ones_before_axis(const OperatorDesc& op, const Dims& sizes) {
  int ones = 0;
  while (ones < static_cast<int>(op.axis) && sizes[ones] == 1) {
    ++ones;
  }
  return ones;
}

// The plan found another shape for the grid, the output of a gather or the updates of a scatter,
// than its descriptor has.
[[noreturn]] void refuse_grid(const OperatorDesc& op, const TensorDesc& tensor, const Dims& real) {
  const bool scatter = is_scatter(op.info->op);
  const int rank = tensor.spec.rank();
  if (real.size() > rank) {
    refuse(op, {Reason::kRank}, "too few dimensions",
           cat("the ", scatter ? "updates" : "output", " would be ", braced(real),
               ", but DimensionCount is ", rank),
           real.size() <= static_cast<int>(op.support->max_dimensions)
               ? cat("pad all tensors to ", real.size(), " dimensions with leading ones")
               : cat("merge dimensions; ", op.support->max_dimensions, " is the most"));
  }
  Dims padded(rank - real.size(), 1);
  for (const int64_t size : real) {
    padded.push_back(size);
  }
  refuse(op, {Reason::kShape},
         scatter ? "updates have the wrong shape" : "output has the wrong shape",
         cat(tensor.name, ".Sizes = ", braced(tensor.spec.sizes), ", but this operator ",
             scatter ? "takes " : "makes ", braced(padded)),
         cat(tensor.name, ".Sizes = ", braced(padded)));
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
  check_axis(op, tensors);
  check_elements(
      op, tensors,
      "equal sizes; to use a part of the input, give it smaller Sizes and its own Strides");
  const TensorSpec& input = tensors.input.spec;
  const int rank = input.rank() - leading_ones_before_axis(op, input.sizes);
  r.data = last_dims(input, rank);
  r.indices = last_dims(tensors.indices.spec, rank);
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

void check_output(const OperatorDesc& op, const Tensors& tensors) {
  const Dims& input = tensors.input.spec.sizes;
  if (tensors.output.spec.sizes != input) {
    refuse(op, {Reason::kShape}, "output has the wrong shape",
           cat("OutputTensor.Sizes = ", braced(tensors.output.spec.sizes),
               ", but this operator makes ", braced(input)),
           cat("OutputTensor.Sizes = ", braced(input), ", those of InputTensor"));
  }
}

void set_data(const Tensors& tensors, int rank, Request& r) {
  r.output = last_dims(tensors.output.spec, rank);
  r.data = last_dims(tensors.input.spec, rank);
}

void scatter_elements(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  check_axis(op, tensors);
  check_elements(op, tensors,
                 "equal sizes; to change a part, bind one buffer as input and output, with smaller "
                 "Sizes and its own Strides");
  const TensorSpec& input = tensors.input.spec;
  const int rank = input.rank() - leading_ones_before_axis(op, input.sizes);
  set_data(tensors, rank, r);
  r.indices = last_dims(tensors.indices.spec, rank);
  r.axis = int64_t{op.axis} - (input.rank() - rank);
}

void scatter_nd(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  const UINT rank = static_cast<UINT>(tensors.input.spec.rank());
  check_attribute(op, "InputDimensionCount", op.input_dimension_count, {1, rank});
  check_attribute(op, "IndicesDimensionCount", op.indices_dimension_count, {1, rank});
  const TensorSpec input =
      real_dims(op, tensors.input, "InputDimensionCount", op.input_dimension_count);
  set_data(tensors, input.rank(), r);
  r.indices = real_dims(op, tensors.indices, "IndicesDimensionCount", op.indices_dimension_count);
}

void read_shapes(const OperatorDesc& op, const Tensors& tensors, Request& r) {
  switch (r.op) {
    case Op::kGather: return gather(op, tensors, r);
    case Op::kGatherElements: return gather_elements(op, tensors, r);
    case Op::kGatherNd: return gather_nd(op, tensors, r);
    case Op::kScatterElements: return scatter_elements(op, tensors, r);
    case Op::kScatterNd:
    case Op::kXlaGather:  // this and the next are no operators of DirectML
    case Op::kScatter:
    case Op::kXlaScatter: break;
  }
  scatter_nd(op, tensors, r);
}

}  // namespace

Plan operator_plan(const OperatorDesc& op, const Tensors& tensors) {
  Request r = request_from(op.info->op);
  r.name = op.info->name;
  r.rule = kIndexRule;
  r.grid_is_padded = true;
  r.output_given = true;
  if (is_scatter(r.op)) {
    check_output(op, tensors);
    r.updates = tensors.updates.spec;
  } else {
    r.output = tensors.output.spec;
  }
  read_shapes(op, tensors, r);
  try {
    return make_plan(r);
  } catch (const Error& error) {
    const Cause& cause = error.refusal().cause;
    const bool about_grid = cause.tensor == (is_scatter(r.op) ? "updates" : "output");
    if (cause.reason == Reason::kShape && about_grid) {
      refuse_grid(op, is_scatter(r.op) ? tensors.updates : tensors.output, cause.wanted);
    }
    throw;
  }
}

}  // namespace sheaf::dml::detail
