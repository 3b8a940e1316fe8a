// SPDX-License-Identifier: MIT
#include "sheaf/encoded_gather.h"

#include "plan/encoded_gather.h"

namespace sheaf {
namespace {

template <class Options>
EncodedGatherPlan plan_encoded(const EncodedSpec& data, const TensorSpec& indices,
                               const TensorSpec* output, const Options& options, DType type) {
  Request r = request_from(options);
  r.indices = indices;
  if (output != nullptr) {
    r.output = *output;
    r.output_given = true;
  }
  return make_encoded_gather(data, r, output == nullptr ? type : output->dtype);
}

template <class Options>
Array run_encoded_new(const Encoded& data, const ConstTensor& indices, const Options& options,
                      DType type) {
  const EncodedGatherPlan plan = plan_encoded(data.spec, indices.spec, nullptr, options, type);
  Array output(plan.output());
  plan.run({data.stored, data.scales, data.zeros, indices.data, output.tensor().data},
           {.output_is_fresh = true});
  return output;
}

}  // namespace

EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherOptions& options, DType type) {
  return plan_encoded(data, indices, nullptr, options, type);
}
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherElementsOptions& options, DType type) {
  return plan_encoded(data, indices, nullptr, options, type);
}
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherNdOptions& options, DType type) {
  return plan_encoded(data, indices, nullptr, options, type);
}
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output, const GatherOptions& options) {
  return plan_encoded(data, indices, &output, options, f32);
}
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output,
                                      const GatherElementsOptions& options) {
  return plan_encoded(data, indices, &output, options, f32);
}
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output, const GatherNdOptions& options) {
  return plan_encoded(data, indices, &output, options, f32);
}

Array gather_encoded(const Encoded& data, const ConstTensor& indices, const GatherOptions& options,
                     DType type) {
  return run_encoded_new(data, indices, options, type);
}
Array gather_encoded(const Encoded& data, const ConstTensor& indices,
                     const GatherElementsOptions& options, DType type) {
  return run_encoded_new(data, indices, options, type);
}
Array gather_encoded(const Encoded& data, const ConstTensor& indices,
                     const GatherNdOptions& options, DType type) {
  return run_encoded_new(data, indices, options, type);
}

}  // namespace sheaf
