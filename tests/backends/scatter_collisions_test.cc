// SPDX-License-Identifier: MIT
//
// Many updates to few cells: where the order of joining shows in the bits. Every type with every
// reduction it knows, all updates to one cell, to 100 cells, and by Zipf's law.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/rng.h"
#include "helpers/scatter_check.h"

namespace sheaf {
namespace {

enum class Crowd { kOneCell, kHundredCells, kZipf };

std::vector<int64_t> crowded(Rng& rng, Crowd crowd, int64_t updates, int64_t cells) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < updates; ++i) {
    switch (crowd) {
      case Crowd::kOneCell: indices.push_back(cells / 2); break;
      case Crowd::kHundredCells: indices.push_back(rng.from(0, 99)); break;
      case Crowd::kZipf: {
        const double uniform = static_cast<double>(rng.from(1, 1 << 20)) / (1 << 20);
        const auto rank = static_cast<int64_t>(std::pow(static_cast<double>(cells), uniform)) - 1;
        indices.push_back(std::min(rank, cells - 1));
      }
    }
  }
  return indices;
}

void check_crowd(Crowd crowd, int64_t updates, int64_t columns, bool tame) {
  constexpr int64_t kCells = 1000;
  Rng rng(static_cast<uint64_t>(updates + columns));
  const std::vector<int64_t> indices = crowded(rng, crowd, updates, kCells);
  const std::vector<int64_t> targets = row_targets(indices, columns);
  for (const DType type : oracle::kNumberTypes) {
    const oracle::Bytes data = random_elements(rng, type, kCells * columns, tame);
    const oracle::Bytes moved = random_elements(rng, type, updates * columns, tame);
    for (const Reduction reduction : oracle::kReductions) {
      if (!oracle::joins(type, reduction)) {
        continue;
      }
      const oracle::Joining joining{reduction, rng.one_in(2), rng.one_in(4)};
      const Plan plan =
          plan_scatter({type, {kCells, columns}}, {i64, {updates}}, {type, {updates, columns}},
                       {.reduction = reduction,
                        .include_self = joining.include_self,
                        .onto_zeros = joining.onto_zeros});
      const oracle::Bytes expected = oracle::scattered(type, joining, data, moved, targets);
      ScatterCheck{plan, indices.data(), data, moved, expected}.run(type.name() + " " +
                                                                    joining.str());
    }
  }
}

TEST(Collisions, AllInOneCell) {
  check_crowd(Crowd::kOneCell, 6000, 1, true);
  check_crowd(Crowd::kOneCell, 1500, 5, false);
}
TEST(Collisions, AHundredCells) {
  check_crowd(Crowd::kHundredCells, 6000, 1, true);
  check_crowd(Crowd::kHundredCells, 1500, 5, false);
}
TEST(Collisions, ZipfsLaw) {
  check_crowd(Crowd::kZipf, 6000, 1, false);
  check_crowd(Crowd::kZipf, 1500, 5, true);
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
