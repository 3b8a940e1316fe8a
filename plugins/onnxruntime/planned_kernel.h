// SPDX-License-Identifier: MIT
//
// The nodes that are one plan: Gather, GatherElements, GatherND, ScatterElements and ScatterND.
#pragma once

#include <functional>
#include <optional>

#include "kept_plans.h"
#include "kernel.h"
#include "sheaf/plan.h"

namespace sheaf::ort {

// From the specs of a node's inputs: data, indices, and a scatter's updates.
using PlanOf = std::function<Plan(std::span<const TensorSpec>)>;

class PlannedKernel final : public Kernel {
 public:
  PlannedKernel(const MakeKernel& made, PlanOf plan_of, size_t inputs);

  void run(const Context& context) override;

 private:
  struct Prepared {
    Plan plan;  // reads `entries`, if there are any, in place of the indices
    std::optional<std::vector<int64_t>> entries;
  };

  Prepared prepare(std::span<const Input> inputs) const;

  PlanOf plan_of_;
  size_t input_count_;
  bool output_is_fresh_;
  bool indices_are_constant_;
  KeptPlans<Prepared> plans_;
};

}  // namespace sheaf::ort
