// SPDX-License-Identifier: MIT
//
// Calls on a thread with a stack of 64 KiB, of which 16 are left to its own bookkeeping and to the
// caller. pthreads of some processors have a larger least size, so the stack is one of our own,
// with a guard page below it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <functional>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/sanitized.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr size_t kStack = size_t{48} << 10;
constexpr size_t kGuard = size_t{64} << 10;  // a page of every processor

ucontext_t caller;
const std::function<void()>* work = nullptr;

void enter() { (*work)(); }

void on_a_small_stack(const std::function<void()>& call) {
  void* const memory =
      mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory, kGuard, PROT_NONE), 0);
  ucontext_t context;
  ASSERT_EQ(getcontext(&context), 0);
  context.uc_stack = {static_cast<std::byte*>(memory) + kGuard, 0, kStack};
  context.uc_link = &caller;
  work = &call;
  makecontext(&context, enter, 0);
  EXPECT_EQ(swapcontext(&caller, &context), 0);
  munmap(memory, kGuard + kStack);
}

std::vector<int64_t> some_indices(const Plan& plan) {
  std::vector<int64_t> indices(static_cast<size_t>(element_count(plan.indices().sizes)));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int64_t>(i * 7919) % plan.nest().coordinates[0].extent;
  }
  return indices;
}

// On the calling thread alone: what the pool's threads have is oneTBB's choice.
TEST(SmallStack, IsEnoughForEveryGatherKernel) {
#if SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers enlarge frames, and know no stacks but the system's";
#endif
  const std::vector<Plan> plans = {
      plan_gather({i32, {100}}, {i64, {20}}), plan_gather({i32, {4096, 64}}, {i64, {5000}}),
      plan_gather({i32, {64, 512}}, {i64, {5000}}, {.axis = 1}),
      plan_gather_elements({i32, {4096, 64}}, {i64, {4096, 64}}),
      plan_gather_nd({i32, {512, 512}}, {i64, {9000, 2}},
                     {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 3}})};
  for (const Plan& plan : plans) {
    const std::vector<int64_t> indices = some_indices(plan);
    const std::vector<int32_t> data(static_cast<size_t>(element_count(plan.data().sizes)), 5);
    for (const std::string& kernel : accepting_kernels(plan)) {
      std::vector<int32_t> output(static_cast<size_t>(element_count(plan.output().sizes)));
      on_a_small_stack([&] {
        plan.run(data.data(), indices.data(), output.data(), {.threads = 1, .kernel = kernel});
      });
      EXPECT_EQ(output, std::vector<int32_t>(output.size(), 5)) << kernel;
    }
  }
}

TEST(SmallStack, IsEnoughForEveryScatterKernel) {
#if SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers enlarge frames, and know no stacks but the system's";
#endif
  const ScatterOptions mean{.reduction = Reduction::kMean};
  const std::vector<Plan> plans = {
      plan_scatter({f32, {64, 4096}}, {i64, {100}}, {f32, {100, 4096}}, mean),
      plan_scatter_elements({f32, {512, 64}}, {i64, {512, 64}}, {f32, {512, 64}},
                            {.reduction = Reduction::kAdd}),
      plan_scatter_nd({f32, {5000}}, {i64, {9000, 1}}, {f32, {9000}},
                      {.reduction = Reduction::kMax})};
  for (const Plan& plan : plans) {
    const std::vector<int64_t> indices = some_indices(plan);
    const std::vector<float> data(static_cast<size_t>(element_count(plan.data().sizes)), 1);
    const std::vector<float> updates(static_cast<size_t>(element_count(plan.updates().sizes)), 2);
    std::vector<float> expected(data.size());
    plan.run(data.data(), indices.data(), updates.data(), expected.data(), {.kernel = "reference"});
    for (const std::string& kernel : accepting_kernels(plan)) {
      std::vector<float> output(data.size());
      on_a_small_stack([&] {
        plan.run(data.data(), indices.data(), updates.data(), output.data(),
                 {.threads = 1, .kernel = kernel});
      });
      EXPECT_EQ(output, expected) << kernel;
    }
  }
}

// Planning, the refusal of a plan, and the search for a bad index and its report.
TEST(SmallStack, IsEnoughForPlansAndErrors) {
#if SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers enlarge frames, and know no stacks but the system's";
#endif
  std::string text;
  on_a_small_stack([&] {
    const std::vector<float> data(10);
    const std::vector<int64_t> indices = {0, 10};
    try {
      gather(view(data), view(indices));
    } catch (const IndexError& error) {
      text = error.what();
    }
  });
  EXPECT_EQ(text.substr(0, 26), "gather: index out of range");
}

}  // namespace
}  // namespace sheaf
