// SPDX-License-Identifier: MIT
//
// The ways of a scatter whose threads own cells: each gives the bits of the plain loops and finds
// bad indices, whatever this machine's number of cores would have it choose.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backends/cpu/scatter/kernels.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr int64_t kCells = 500;
constexpr int64_t kUpdates = 5000;

struct Case {
  const char* name;
  Plan plan;
};

std::vector<Case> cases(OutOfRange rule) {
  const IndexRule index_rule{.out_of_range = rule};
  const auto rows = [&](int64_t columns, Reduction reduction) {
    return plan_scatter({f32, {kCells, columns}}, {i64, {kUpdates}}, {f32, {kUpdates, columns}},
                        {.reduction = reduction, .rule = index_rule});
  };
  return {
      {"elements", rows(1, Reduction::kAdd)},
      {"rows of 12 bytes", rows(3, Reduction::kMax)},
      {"rows of a line", rows(16, Reduction::kAdd)},
      {"wide rows", rows(50, Reduction::kMin)},
      {"the last one wins", rows(16, Reduction::kNone)},
      {"pairs", plan_scatter_nd({f32, {kCells, kCells}}, {i64, {kUpdates, 2}}, {f32, {kUpdates}},
                                {.reduction = Reduction::kAdd, .rule = index_rule})},
      {"a batch",
       plan_scatter_elements({f32, {4, kCells}}, {i64, {4, kUpdates}}, {f32, {4, kUpdates}},
                             {.axis = 1, .reduction = Reduction::kAdd, .rule = index_rule})}};
}

// One case's memory: half of the updates go to ten cells.
struct World {
  World(const Plan& of, bool bad) : plan(of), rng(7) {
    for (int64_t i = 0; i < element_count(plan.indices().sizes); ++i) {
      indices.push_back(rng.from(0, rng.one_in(2) ? 9 : kCells - 1) - (rng.one_in(3) ? kCells : 0));
    }
    if (bad) {
      indices[indices.size() / 2] = kCells;
    }
    for (int64_t i = 0; i < element_count(plan.updates().sizes); ++i) {
      updates.push_back(static_cast<float>(rng.from(-999, 999)) * 0.37F);
    }
    data.assign(static_cast<size_t>(element_count(plan.data().sizes)), 1.5F);
  }

  ScatterBuffers buffers(std::vector<float>& output) const {
    return {reinterpret_cast<std::byte*>(output.data()),
            reinterpret_cast<const std::byte*>(indices.data()),
            reinterpret_cast<const std::byte*>(updates.data())};
  }

  const Plan& plan;
  Rng rng;
  std::vector<int64_t> indices;
  std::vector<float> updates, data;
};

// Calls each way from 1, 2 and 5 threads with an output that holds data.
template <class Check>
void with_each_way(const World& world, bool check_while_moving, Check check) {
  const Nest& nest = world.plan.nest();
  for (const int threads : {1, 2, 5}) {
    std::vector<std::byte> workspace(cpu::sorting_bytes(nest, threads) + 64);
    Launch launch;
    launch.check_while_moving = check_while_moving;
    launch.workspace = workspace.data();
    for (const auto way : {cpu::scatter_shared, cpu::scatter_sorted}) {
      std::vector<float> output = world.data;
      const bool good = way(nest, world.buffers(output), launch, {threads, false});
      check(output, good, threads);
    }
    std::vector<float> output = world.data;
    const bool good = cpu::scatter_in_order(nest, world.buffers(output), launch);
    check(output, good, threads);
  }
}

TEST(ScatterWays, GiveTheBitsOfThePlainLoops) {
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip}) {
    for (const Case& c : cases(rule)) {
      const World world(c.plan, rule != OutOfRange::kFail);
      std::vector<float> expected(world.data.size());
      c.plan.run(world.data.data(), world.indices.data(), world.updates.data(), expected.data(),
                 {.kernel = "reference"});
      with_each_way(world, rule == OutOfRange::kFail,
                    [&](const std::vector<float>& output, bool good, int threads) {
                      EXPECT_TRUE(good) << c.name;
                      EXPECT_TRUE(output == expected) << c.name << ", " << threads << " threads";
                    });
    }
  }
}

TEST(ScatterWays, FindABadIndexWhenAsked) {
  for (const Case& c : cases(OutOfRange::kFail)) {
    const World world(c.plan, true);
    for (const bool check_while_moving : {true, false}) {
      with_each_way(world, check_while_moving, [&](const std::vector<float>&, bool good, int) {
        EXPECT_EQ(good, !check_while_moving) << c.name;
      });
    }
  }
}

}  // namespace
}  // namespace sheaf
