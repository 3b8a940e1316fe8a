// SPDX-License-Identifier: MIT
#include "frontends/directml/real_shape.h"
#include "frontends/directml/request.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

void check_output(const OperatorDesc& op, const Tensors& tensors) {
  const Dims& input = tensors.input.spec.sizes;
  if (tensors.output.spec.sizes != input) {
    refuse(op, "output has the wrong shape",
           cat("OutputTensor.Sizes = ", braced(tensors.output.spec.sizes),
               ", but this operator makes ", braced(input)),
           cat("OutputTensor.Sizes = ", braced(input), ", those of InputTensor"));
  }
}

void set_data(const Tensors& tensors, int rank, Request& r) {
  r.output = last_dims(tensors.output.spec, rank);
  r.output_given = true;
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

}  // namespace

Request scatter_request(const OperatorDesc& op, const Tensors& tensors) {
  Request r;
  r.op = op.info->op;
  r.name = op.info->name;
  r.rule = kIndexRule;
  check_output(op, tensors);
  if (r.op == Op::kScatterElements) {
    scatter_elements(op, tensors, r);
  } else {
    scatter_nd(op, tensors, r);
  }
  r.updates = real_grid(op, tensors.updates, r);
  return r;
}

}  // namespace sheaf::dml::detail
