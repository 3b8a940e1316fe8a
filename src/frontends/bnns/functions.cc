// SPDX-License-Identifier: MIT
//
// The four functions: descriptors into a Request. A scatter of BNNS has no separate base: `output`
// is read and written, so it is data and output at once, and `input` holds the updates.
#include "frontends/bnns/call.h"
#include "support/text.h"

namespace sheaf::bnns {
namespace {

Request gather_request(const Call& call, const Tensors& t, size_t axis) {
  const Dims& sizes = t.input.spec.sizes;
  check_axis(call, "input", sizes, axis);
  // For an input of rank 1 a vector fits both forms, which then say the same.
  const bool vector = t.indices.spec.rank() == 1;
  if (!vector) {
    check_elements(call, "input", sizes, t.indices.spec.sizes, axis);
  }
  Request r = common_request(vector ? Op::kGather : Op::kGatherElements, call, t);
  r.data = t.input.spec;
  r.axis = static_cast<int64_t>(axis);
  return r;
}

Request gather_nd_request(const Call& call, const Tensors& t) {
  Request r = common_request(Op::kGatherNd, call, t);
  r.data = t.input.spec;
  if (r.indices.rank() == 1 && r.indices.sizes[0] == r.data.rank()) {
    r.output = one_element(call, "output", r.output);
  }
  return r;
}

void gather(const Request& request, const Tensors& t, const RunOptions& options) {
  make_plan(request).run(t.input.data, t.indices.data, t.output.data, options);
}

Reduction reduction(const Call& call, BNNSReduceFunction op) {
  if (op != BNNSReduceFunctionNone && op != BNNSReduceFunctionSum) {
    refuse(call, {Reason::kReduction}, "unsupported reduction",
           cat("op = ", op, ", but BNNS scatters with two of them"),
           cat("BNNSReduceFunctionNone (", uint32_t{BNNSReduceFunctionNone},
               ") or BNNSReduceFunctionSum (", uint32_t{BNNSReduceFunctionSum}, ")"));
  }
  return op == BNNSReduceFunctionNone ? Reduction::kNone : Reduction::kAdd;
}

// Integers are added as they are stored. With a bias that is not the sum of what they stand for.
void check_bias(const Call& call, const Tensors& t) {
  const Quantization output = quantization(*call.output, t.output.spec.dtype);
  if (output.bias != 0) {
    refuse(call, {Reason::kReduction}, "sum of biased integers",
           cat("input and output have data_bias ", text_of(output.bias),
               ", which a sum of the stored integers would count twice"),
           "data_bias 0, or BNNSReduceFunctionNone");
  }
}

Request scatter_request(Op op, const Call& call, const Tensors& t, BNNSReduceFunction function) {
  Request r = common_request(op, call, t);
  r.data = t.output.spec;
  r.updates = t.input.spec;
  r.reduction = reduction(call, function);
  if (r.reduction == Reduction::kAdd) {
    check_bias(call, t);
  }
  return r;
}

Request slices_request(const Call& call, const Tensors& t, size_t axis, BNNSReduceFunction op) {
  const Dims& sizes = t.output.spec.sizes;
  check_axis(call, "output", sizes, axis);
  // For an output of rank 1 a vector fits both forms, which then say the same.
  const bool vector = t.indices.spec.rank() == 1;
  if (!vector) {
    check_elements(call, "output", sizes, t.indices.spec.sizes, axis);
  }
  Request r = scatter_request(vector ? Op::kScatter : Op::kScatterElements, call, t, op);
  r.axis = static_cast<int64_t>(axis);
  return r;
}

Request nd_request(const Call& call, const Tensors& t, BNNSReduceFunction op) {
  Request r = scatter_request(Op::kScatterNd, call, t, op);
  if (r.indices.rank() == 1 && r.indices.sizes[0] == r.data.rank()) {
    r.updates = one_element(call, "input", r.updates);
  }
  return r;
}

void scatter(const Request& request, const Tensors& t, const RunOptions& options) {
  make_plan(request).run(t.output.data, t.indices.data, t.input.data, t.output.data, options);
}

}  // namespace
}  // namespace sheaf::bnns

int BNNSGather(size_t axis, const BNNSNDArrayDescriptor* input,
               const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
               const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call{"BNNSGather", input, indices, output};
  return run(call, filter_params, [&](const Tensors& t, const sheaf::RunOptions& options) {
    gather(gather_request(call, t, axis), t, options);
  });
}

int BNNSGatherND(const BNNSNDArrayDescriptor* input, const BNNSNDArrayDescriptor* indices,
                 BNNSNDArrayDescriptor* output, const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call{"BNNSGatherND", input, indices, output};
  return run(call, filter_params, [&](const Tensors& t, const sheaf::RunOptions& options) {
    gather(gather_nd_request(call, t), t, options);
  });
}

int BNNSScatter(size_t axis, BNNSReduceFunction op, const BNNSNDArrayDescriptor* input,
                const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
                const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call{"BNNSScatter", input, indices, output};
  return run(call, filter_params, [&](const Tensors& t, const sheaf::RunOptions& options) {
    scatter(slices_request(call, t, axis, op), t, options);
  });
}

int BNNSScatterND(BNNSReduceFunction op, const BNNSNDArrayDescriptor* input,
                  const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
                  const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call{"BNNSScatterND", input, indices, output};
  return run(call, filter_params, [&](const Tensors& t, const sheaf::RunOptions& options) {
    scatter(nd_request(call, t, op), t, options);
  });
}
