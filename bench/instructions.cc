// SPDX-License-Identifier: MIT
//
// Ten small calls, for counting instructions: the counts of one build are the same on every run,
// where times are not. `instructions NAME` runs a case a few times on one thread, `instructions`
// lists the names. scripts/check_instructions counts them with callgrind.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

struct Case {
  const char* name;
  Plan (*plan)();
};

TensorSpec floats(const Dims& sizes) { return {f32, sizes}; }
TensorSpec longs(const Dims& sizes) { return {i64, sizes}; }

constexpr Case kCases[] = {
    {"tiny",
     [] {
       return plan_gather(floats({1000, 64}), longs({32}));
     }},
    {"rows_4",
     [] {
       return plan_gather(floats({1000, 1}), longs({4000}));
     }},
    {"rows_12",
     [] {
       return plan_gather(floats({1000, 3}), longs({4000}));
     }},
    {"rows_64",
     [] {
       return plan_gather(floats({1000, 16}), longs({4000}));
     }},
    {"rows_512",
     [] {
       return plan_gather(floats({1000, 128}), longs({1000}));
     }},
    {"inner_axis",
     [] {
       return plan_gather(floats({64, 500}), longs({500}), {.axis = 1});
     }},
    {"elements_last",
     [] {
       return plan_gather_elements(floats({64, 500}), longs({64, 500}), {.axis = 1});
     }},
    {"elements_first",
     [] {
       return plan_gather_elements(floats({500, 64}), longs({500, 64}));
     }},
    {"pairs",
     [] {
       return plan_gather_nd(floats({300, 300}), longs({4000, 2}));
     }},
    {"scatter_add",
     [] {
       return plan_scatter_elements(floats({64, 500}), longs({64, 500}), floats({64, 500}),
                                    {.axis = 1, .reduction = Reduction::kAdd});
     }},
};

size_t elements(const TensorSpec& spec) { return static_cast<size_t>(element_count(spec.sizes)); }

void run(const Plan& plan) {
  const std::vector<float> data(elements(plan.data()), 1.0F);
  std::vector<float> output(elements(plan.output()));
  std::vector<int64_t> indices(elements(plan.indices()));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int64_t>(i * 7919 % 300);
  }
  const std::vector<float> updates(plan.is_scatter() ? elements(plan.updates()) : 0, 2.0F);
  // Not counted: what the first call finds out about the machine depends on the machine.
  if (plan.is_scatter()) {
    sheaf::run(plan, data.data(), indices.data(), updates.data(), output.data(), {.threads = 1});
  } else {
    sheaf::run(plan, data.data(), indices.data(), output.data(), {.threads = 1});
  }
  for (int round = 0; round < 4; ++round) {
    if (plan.is_scatter()) {
      plan.run(data.data(), indices.data(), updates.data(), output.data(), {.threads = 1});
    } else {
      plan.run(data.data(), indices.data(), output.data(), {.threads = 1});
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (const Case& c : kCases) {
    if (count < 2) {
      std::puts(c.name);
    } else if (std::strcmp(arguments[1], c.name) == 0) {
      run(c.plan());
      return 0;
    }
  }
  return count < 2 ? 0 : 1;
}
