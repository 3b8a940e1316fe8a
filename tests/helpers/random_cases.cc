// SPDX-License-Identifier: MIT
#include "helpers/random_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "helpers/guarded_tensor.h"

namespace {

// What SHEAF_TEST_CASES counts are small problems; suites of large ones shrink by as much.
constexpr uint64_t kUsualCases = 8000;

}  // namespace

void RandomCases::run_share(const Machine& machine, uint64_t share) const {
  const uint64_t wanted = from_environment("SHEAF_TEST_CASES", kUsualCases);
  const uint64_t cases = count * wanted / kUsualCases / kShares;
  uint64_t first = share * 1'000'000'000 + static_cast<uint64_t>(most_elements);
  uint64_t last = first + cases;
  if (std::getenv("SHEAF_TEST_SEED") != nullptr) {
    first = from_environment("SHEAF_TEST_SEED", 0);
    last = first + 1;
  }
  uint64_t too_large = 0;
  for (uint64_t seed = first; seed < last && !testing::Test::HasFailure(); ++seed) {
    too_large += run(machine, seed, most_elements) ? 0u : 1u;
  }
  EXPECT_LE(too_large, 2 + cases / 20);  // else the generator, not the library, is at fault
}
