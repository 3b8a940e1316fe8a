// SPDX-License-Identifier: MIT
//
// BNNSGather and BNNSGatherND: descriptors into a Request.
#include "frontends/bnns/call.h"

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
