// SPDX-License-Identifier: MIT
//
// A backend that is added from outside runs every plan: small problems of every operator, and
// random ones, against the oracle.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "execution/registry.h"
#include "execution/skeleton_backend.h"
#include "helpers/exhaustive.h"
#include "helpers/machine.h"
#include "helpers/random_cases.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// The skeleton's kernel alone, for the tests that go through all kernels of a machine.
class SkeletonMachine : public Machine {
 public:
  SkeletonMachine() {
    // [example skeleton-add]
    add_backend(skeleton_backend());  // asked before those that are there already
    // [/example]
  }
  std::vector<std::string> kernels(const Plan& /*plan*/) const override {
    return {"skeleton.rows"};
  }
  std::vector<int> threads() const override { return {1}; }
  void run(const Plan& plan, const Memories& memories, const RunOptions& options) const override {
    host().run(plan, memories, options);
  }
};

const Machine& skeleton() {
  static const SkeletonMachine machine;
  return machine;
}

TEST(Skeleton, IsAskedFirst) {
  skeleton();
  const int before = skeleton_runs();
  const std::vector<float> table = {0, 1, 2};
  const std::vector<int64_t> rows = {2, 0};
  EXPECT_EQ(gather(view(table), view(rows)).elements<float>()[0], 2.0F);
  EXPECT_EQ(skeleton_runs(), before + 1);
}

TEST(Skeleton, RunsEverySmallProblem) {
  check_every_gather(skeleton(), 1, true);
  check_every_gather_elements(skeleton(), 1, false, 2);
  check_every_gather_nd(skeleton(), 1, 2);
  check_every_scatter(skeleton(), 1, true);
  check_every_scatter_elements(skeleton(), 1, 2);
  check_every_scatter_nd(skeleton(), 1, 2);
  check_every_xla_gather(skeleton(), 1, 1);
  check_every_xla_scatter(skeleton(), 1, 1);
}

TEST(Skeleton, RunsRandomProblems) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    run_random_gather(skeleton(), seed, 500);
    run_random_scatter(skeleton(), seed, 500);
  }
}

// A kernel that wants memory of the host's gets all of it, and a step that it leaves null is done
// by the next backend that has it.
TEST(Skeleton, KernelsGetTheWorkspaceThatTheyAskFor) {
  static constexpr size_t kBytes = 4096;
  static const ScatterKernel kernel{
      "scratch.rows", [](const KernelQuery& /*query*/) -> const char* { return nullptr; },
      [](const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
        std::memset(launch.workspace, 0xAB, kBytes);
        return host_backend("reference").scatter.front().run(nest, buffers, launch);
      },
      Checks::kNever, [](const Nest& /*nest*/, int /*threads*/) { return kBytes; }};
  static const Backend backend = [] {
    Backend made = skeleton_backend();
    made.name = "scratch";
    made.gather = {};
    made.scatter = {&kernel, 1};
    return made;
  }();
  add_backend(backend);
  const std::vector<float> table = {1, 2, 3}, updates = {7};
  const std::vector<int64_t> rows = {1};
  std::vector<float> output(3);
  const Plan plan = plan_scatter({f32, {3}}, {i64, {1}}, {f32, {1}});
  EXPECT_EQ(kernel_name(plan), "scratch.rows");
  plan.run(table.data(), rows.data(), updates.data(), output.data());
  EXPECT_EQ(output, (std::vector<float>{1, 7, 3}));
  std::vector<int32_t> numbers(3);
  cast(view(table), view(numbers));
  EXPECT_EQ(numbers, (std::vector<int32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace sheaf
