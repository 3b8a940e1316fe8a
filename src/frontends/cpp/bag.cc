// SPDX-License-Identifier: MIT
#include "sheaf/bag.h"

#include "frontends/cpp/bag_tensors.h"
#include "plan/bag.h"

namespace sheaf {

BagPlan plan_bag(const BagSpecs& specs, const BagOptions& options) {
  return make_bag_plan({.specs = specs, .options = options});
}

BagPlan plan_bag(const BagSpecs& specs, const TensorSpec& output, const BagOptions& options) {
  BagOptions typed = options;
  typed.output_type = options.output_type.value_or(output.dtype);
  return make_bag_plan({.specs = specs, .output = output, .options = typed});
}

void bag(const BagTensors& tensors, const Tensor& output, const BagOptions& options) {
  plan_bag(specs_of(tensors), output.spec, options).run(memory_of(tensors, output.data));
}

Array bag(const BagTensors& tensors, const BagOptions& options) {
  const BagPlan plan = plan_bag(specs_of(tensors), options);
  Array output(plan.output());
  plan.run(memory_of(tensors, output.tensor().data), {.output_is_fresh = true});
  return output;
}

}  // namespace sheaf
