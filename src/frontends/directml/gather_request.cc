// SPDX-License-Identifier: MIT
#include <algorithm>

#include "frontends/directml/real_shape.h"
#include "frontends/directml/request.h"

namespace sheaf::dml::detail {
namespace {

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

}  // namespace

Request gather_request(const OperatorDesc& op, const Tensors& tensors) {
  Request r;
  r.op = op.info->op;
  r.name = op.info->name;
  r.rule = kIndexRule;
  switch (r.op) {
    case Op::kGather: gather(op, tensors, r); break;
    case Op::kGatherElements: gather_elements(op, tensors, r); break;
    default: gather_nd(op, tensors, r); break;
  }
  r.output = real_grid(op, tensors.output, r);
  r.output_given = true;
  return r;
}

}  // namespace sheaf::dml::detail
