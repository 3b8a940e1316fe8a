// SPDX-License-Identifier: MIT
#include "helpers/machine.h"

#include "helpers/guarded_tensor.h"
#include "helpers/problem_plan.h"

namespace {

class Host : public Machine {
 public:
  std::vector<std::string> kernels(const sheaf::Plan& plan) const override {
    return accepting_kernels(plan);
  }

  std::vector<int> threads() const override { return {1, 2, 5, 0}; }

  uint64_t one_in() const override {
    static const uint64_t wanted = from_environment("SHEAF_TEST_ONE_IN", 1);
    return wanted;
  }

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
