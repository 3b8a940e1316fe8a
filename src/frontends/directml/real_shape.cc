// SPDX-License-Identifier: MIT
#include "frontends/directml/real_shape.h"

#include "plan/infer.h"
#include "support/text.h"

namespace sheaf::dml::detail {

void check_attribute(const OperatorDesc& op, const char* name, UINT value, Limits limits) {
  if (value < limits.low || value > limits.high) {
    refuse(op, cat(name, " out of range"),
           cat(name, " = ", value, ", but only ", limits.low, " to ", limits.high, " is possible"),
           cat(name, " from ", limits.low, " to ", limits.high));
  }
}

void check_axis(const OperatorDesc& op, const Tensors& tensors) {
  check_attribute(op, "Axis", op.axis, {0, static_cast<UINT>(tensors.input.spec.rank()) - 1});
}

void check_elements(const OperatorDesc& op, const Tensors& tensors, const char* next) {
  const Dims& input = tensors.input.spec.sizes;
  const Dims& indices = tensors.indices.spec.sizes;
  for (int d = 0; d < input.size(); ++d) {
    if (d != static_cast<int>(op.axis) && indices[d] != input[d]) {
      refuse(op, "shapes do not fit",
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

int leading_ones_before_axis(const OperatorDesc& op, const Dims& sizes) {
  int ones = 0;
  while (ones < static_cast<int>(op.axis) && sizes[ones] == 1) {
    ++ones;
  }
  return ones;
}

TensorSpec real_grid(const OperatorDesc& op, const TensorDesc& tensor, Request& r) {
  const bool scatter = is_scatter(r.op);
  const Dims real = infer_sizes(r);
  const int rank = tensor.spec.rank();
  if (real.size() > rank) {
    refuse(op, "too few dimensions",
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
  if (tensor.spec.sizes != padded) {
    refuse(op, scatter ? "updates have the wrong shape" : "output has the wrong shape",
           cat(tensor.name, ".Sizes = ", braced(tensor.spec.sizes), ", but this operator ",
               scatter ? "takes " : "makes ", braced(padded)),
           cat(tensor.name, ".Sizes = ", braced(padded)));
  }
  return last_dims(tensor.spec, real.size());
}

}  // namespace sheaf::dml::detail
