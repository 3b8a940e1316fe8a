// SPDX-License-Identifier: MIT
//
// The C++ calls: options into a Request, a Request into a plan.
#include "sheaf/gather.h"

#include "plan/request.h"

namespace sheaf {
namespace {

template <class Options>
Request request(const TensorSpec& data, const TensorSpec& indices, const Options& options) {
  Request r = request_from(options);
  r.data = data;
  r.indices = indices;
  return r;
}

template <class Options>
Plan plan_into(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
               const Options& options) {
  Request r = request(data, indices, options);
  r.set_output(output);
  return make_plan(r);
}

template <class Options>
void run_into(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
              const Options& options) {
  plan_into(data.spec, indices.spec, output.spec, options)
      .run(data.data, indices.data, output.data);
}

template <class Options>
Array run_new(const ConstTensor& data, const ConstTensor& indices, const Options& options) {
  const Plan plan = make_plan(request(data.spec, indices.spec, options));
  Array output(plan.output());
  plan.run(data.data, indices.data, output.tensor().data, {.output_is_fresh = true});
  return output;
}

}  // namespace

Plan plan_gather(const TensorSpec& data, const TensorSpec& indices, const GatherOptions& options) {
  return make_plan(request(data, indices, options));
}
Plan plan_gather(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                 const GatherOptions& options) {
  return plan_into(data, indices, output, options);
}
Plan plan_gather_elements(const TensorSpec& data, const TensorSpec& indices,
                          const GatherElementsOptions& options) {
  return make_plan(request(data, indices, options));
}
Plan plan_gather_elements(const TensorSpec& data, const TensorSpec& indices,
                          const TensorSpec& output, const GatherElementsOptions& options) {
  return plan_into(data, indices, output, options);
}
Plan plan_gather_nd(const TensorSpec& data, const TensorSpec& indices,
                    const GatherNdOptions& options) {
  return make_plan(request(data, indices, options));
}
Plan plan_gather_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                    const GatherNdOptions& options) {
  return plan_into(data, indices, output, options);
}
Plan plan_xla_gather(const TensorSpec& data, const TensorSpec& indices,
                     const XlaGatherOptions& options) {
  return make_plan(request(data, indices, options));
}
Plan plan_xla_gather(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                     const XlaGatherOptions& options) {
  return plan_into(data, indices, output, options);
}

void gather(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
            const GatherOptions& options) {
  run_into(data, indices, output, options);
}
void gather_elements(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
                     const GatherElementsOptions& options) {
  run_into(data, indices, output, options);
}
void gather_nd(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
               const GatherNdOptions& options) {
  run_into(data, indices, output, options);
}
void xla_gather(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
                const XlaGatherOptions& options) {
  run_into(data, indices, output, options);
}

Array gather(const ConstTensor& data, const ConstTensor& indices, const GatherOptions& options) {
  return run_new(data, indices, options);
}
Array gather_elements(const ConstTensor& data, const ConstTensor& indices,
                      const GatherElementsOptions& options) {
  return run_new(data, indices, options);
}
Array gather_nd(const ConstTensor& data, const ConstTensor& indices,
                const GatherNdOptions& options) {
  return run_new(data, indices, options);
}
Array xla_gather(const ConstTensor& data, const ConstTensor& indices,
                 const XlaGatherOptions& options) {
  return run_new(data, indices, options);
}

}  // namespace sheaf
