// SPDX-License-Identifier: MIT
#include "helpers/machine.h"

#include "helpers/problem_plan.h"

namespace {

class Host : public Machine {
 public:
  std::vector<std::string> kernels(const sheaf::Plan& plan) const override {
    return accepting_kernels(plan);
  }

  std::vector<int> threads() const override { return {1, 2, 5, 0}; }

  void run(const sheaf::Plan& plan, const Memories& m,
           const sheaf::RunOptions& options) const override {
    if (plan.is_scatter()) {
      plan.run(m.data.first, m.indices.first, m.updates.first, m.output.first, options);
    } else {
      plan.run(m.data.first, m.indices.first, m.output.first, options);
    }
  }
};

}  // namespace

const Machine& host() {
  static const Host machine;
  return machine;
}
