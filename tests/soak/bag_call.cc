// SPDX-License-Identifier: MIT
//
// Random bags, and gathers of their encoded tables: every kernel gives what the reference gives.
#include <cstdio>
#include <vector>

#include "calls.h"
#include "helpers/bag_problem.h"
#include "helpers/decode_oracle.h"
#include "sheaf/sheaf.h"

namespace {

bool gathers_alike(Rng& rng, const BagProblem& problem) {
  const sheaf::EncodedSpec& data = problem.specs.data;
  std::vector<int64_t> rows(static_cast<size_t>(rng.from(0, 40)));
  for (int64_t& row : rows) {
    row = rng.from(-data.sizes[0], data.sizes[0] - 1);
  }
  const sheaf::EncodedGatherPlan plan =
      sheaf::plan_gather_encoded(data, sheaf::view(rows).spec, sheaf::GatherOptions{}, sheaf::f16);
  sheaf::Array right(plan.output()), got(plan.output());
  const sheaf::BagMemory memory = problem.memory(nullptr);
  const auto run = [&](sheaf::Array& output, const char* kernel) {
    plan.run({memory.stored, memory.scales, memory.zeros, rows.data(), output.tensor().data},
             {.threads = static_cast<int>(rng.from(0, 3)), .kernel = kernel});
  };
  run(right, "reference");
  run(got, "cpu.encoded");
  const auto bytes = [](const sheaf::Array& array) {
    const auto* const first = static_cast<const std::byte*>(array.tensor().data);
    return std::vector<std::byte>(first, first + 2 * sheaf::element_count(array.sizes()));
  };
  return bytes(right) == bytes(got);
}

}  // namespace

int bag_call(Rng& rng) {
  static const std::vector<sheaf::Encoding> encodings = oracle::all_encodings();
  const bool encoded = rng.one_in(2);
  const BagProblem problem =
      encoded ? random_encoded_bag(rng, rng.pick(encodings)) : random_bag(rng);
  const BagResult expected = problem.on_reference();
  int runs = 1;
  for (const std::string_view kernel : bag_kernels(problem.plan())) {
    const BagResult got =
        problem.on_host({.threads = static_cast<int>(rng.from(0, 3)), .kernel = kernel});
    if (!(got == expected)) {
      std::fprintf(stderr, "soak: %.*s differs on\n%s\n%s\n", static_cast<int>(kernel.size()),
                   kernel.data(), problem.text().c_str(), got.error.c_str());
      return -1;
    }
    ++runs;
  }
  if (encoded && !gathers_alike(rng, problem)) {
    std::fprintf(stderr, "soak: a gather differs on the table of\n%s\n", problem.text().c_str());
    return -1;
  }
  return runs;
}
