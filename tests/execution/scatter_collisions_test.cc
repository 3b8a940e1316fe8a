// SPDX-License-Identifier: MIT
//
// Many updates to few cells: all to one, to 100, and by Zipf's law.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers/colliding_updates.h"
#include "helpers/problem_plan.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(Collisions, AllInOneCell) {
  check_collisions(host(), Collisions::kOneCell, 6000, 1, true);
  check_collisions(host(), Collisions::kOneCell, 1500, 5, false);
}
TEST(Collisions, AHundredCells) {
  check_collisions(host(), Collisions::kHundredCells, 6000, 1, true);
  check_collisions(host(), Collisions::kHundredCells, 1500, 5, false);
}
TEST(Collisions, ZipfsLaw) {
  check_collisions(host(), Collisions::kZipf, 6000, 1, false);
  check_collisions(host(), Collisions::kZipf, 1500, 5, true);
}

TEST(Collisions, RelaxedOnWholeNumbers) {
  check_relaxed_collisions(host(), Collisions::kZipf, 1500, 5);
}

// The sum in another order, or in higher precision, has other bits.
TEST(Collisions, TheOrderOfASumIsThatOfTheUpdates) {
  const std::vector<float> data = {0};
  const std::vector<float> updates = {1e8F, 1, -1e8F, 1};
  const std::vector<int32_t> indices(4, 0);
  std::vector<float> output(1);
  const Plan plan =
      plan_scatter({f32, {1}}, {i32, {4}}, {f32, {4}}, {.reduction = Reduction::kAdd});
  for (const std::string& kernel : accepting_kernels(plan)) {
    plan.run(data.data(), indices.data(), updates.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output[0], 1.0F) << kernel << ": ((1e8 + 1) - 1e8) + 1 in f32";
  }
}

TEST(Collisions, TheLastUpdateWins) {
  const std::vector<int32_t> data(7, -1);
  std::vector<int32_t> updates(100000), indices(100000);
  Rng rng(5);
  for (size_t i = 0; i < updates.size(); ++i) {
    updates[i] = static_cast<int32_t>(i);
    indices[i] = static_cast<int32_t>(rng.from(0, 4));
  }
  std::vector<int32_t> last = data;
  for (size_t i = 0; i < updates.size(); ++i) {
    last[static_cast<size_t>(indices[i])] = updates[i];
  }
  const Plan plan = plan_scatter({i32, {7}}, {i32, {100000}}, {i32, {100000}});
  for (const std::string& kernel : accepting_kernels(plan)) {
    for (const int threads : {1, 2, 5, 0}) {
      std::vector<int32_t> output(7);
      plan.run(data.data(), indices.data(), updates.data(), output.data(),
               {.threads = threads, .kernel = kernel});
      EXPECT_EQ(output, last) << kernel << " on " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace sheaf
