// SPDX-License-Identifier: MIT
//
// DirectML pads all tensors of an operator to the same DimensionCount with leading ones. Here the
// padding comes off.
#pragma once

#include "frontends/directml/tensor_desc.h"
#include "plan/request.h"

namespace sheaf::dml::detail {

struct Limits {
  UINT low, high;
};
void check_attribute(const OperatorDesc& op, const char* name, UINT value, Limits limits);
void check_axis(const OperatorDesc& op, const Tensors& tensors);

// Refuses indices that differ from the input elsewhere than at Axis; `next` is the advice.
void check_elements(const OperatorDesc& op, const Tensors& tensors, const char* next);

TensorSpec last_dims(const TensorSpec& spec, int count);

// The last `count` dimensions, which the attribute `attribute` has singled out; the others must be
// padding. (DirectML leaves open what they would mean, and its drivers disagree.)
TensorSpec real_dims(const OperatorDesc& op, const TensorDesc& tensor, const char* attribute,
                     UINT count);

// How many dimensions before Axis are padding, or might as well be: leading ones.
int leading_ones_before_axis(const OperatorDesc& op, const Dims& sizes);

// The tensor that infer_sizes(r) gives a shape to, without its padding. Refuses another shape than
// that one, right-aligned.
TensorSpec real_grid(const OperatorDesc& op, const TensorDesc& tensor, Request& r);

}  // namespace sheaf::dml::detail
