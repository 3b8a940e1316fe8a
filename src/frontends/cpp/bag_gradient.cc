// SPDX-License-Identifier: MIT
#include "sheaf/bag_gradient.h"

#include "frontends/cpp/bag_tensors.h"

namespace sheaf {
namespace {

BagGradientPlan one_shot_plan(const BagTensors& tensors, const ConstTensor& gradient,
                              BagOptions options, BagGradientOf of) {
  options.output_type = options.output_type.value_or(gradient.spec.dtype);
  return plan_bag_gradient(plan_bag(specs_of(tensors), options), of, {.gradient = gradient.spec});
}

Array one_shot(const BagTensors& tensors, const ConstTensor& gradient, const BagOptions& options,
               BagGradientOf of) {
  const BagGradientPlan plan = one_shot_plan(tensors, gradient, options, of);
  BagGradientMemory memory{.bag = memory_of(tensors, nullptr), .gradient = gradient.data};
  const BagEntries entries = plan.entries(memory.bag);
  Array output(plan.output());
  memory.output = output.tensor().data;
  plan.run(entries, memory);
  return output;
}

}  // namespace

BagRowGradient bag_row_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                                const BagOptions& options) {
  const BagGradientPlan plan = one_shot_plan(tensors, gradient, options, BagGradientOf::kRows);
  BagGradientMemory memory{.bag = memory_of(tensors, nullptr), .gradient = gradient.data};
  const BagEntries entries = plan.entries(memory.bag);
  Dims sizes = plan.output().sizes;
  sizes[0] = entries.rows();
  BagRowGradient result{Array(TensorSpec(i64, {entries.rows()})),
                        Array(TensorSpec(plan.output().dtype, sizes))};
  memory.rows = result.rows.tensor().data;
  memory.output = result.values.tensor().data;
  plan.run(entries, memory);
  return result;
}

Array bag_data_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                        const BagOptions& options) {
  return one_shot(tensors, gradient, options, BagGradientOf::kData);
}

Array bag_weight_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                          const BagOptions& options) {
  return one_shot(tensors, gradient, options, BagGradientOf::kWeights);
}

}  // namespace sheaf
