// SPDX-License-Identifier: MIT
//
// Runs on the caller's threads.
#include "execution/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr int64_t kOwnRows = 1 << 16, kColumns = 32;

// A pool that starts a thread per task, or leaves tasks out.
struct OwnPool {
  std::atomic<int> calls{0};
  std::atomic<int> tasks{0};
  bool works = true;

  Workers workers(int most = 0) {
    return {[](void* self, int64_t count, void (*task)(void*, int64_t), void* argument) {
              return static_cast<OwnPool*>(self)->run(count, task, argument);
            },
            this, most};
  }

  bool run(int64_t count, void (*task)(void*, int64_t), void* argument) {
    ++calls;
    tasks += static_cast<int>(count);
    std::vector<std::thread> threads;
    for (int64_t i = 0; works && i < count; ++i) {
      threads.emplace_back(task, argument, i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return works;
  }
};

std::vector<float> own_table() {
  std::vector<float> data(1000 * kColumns);
  std::iota(data.begin(), data.end(), 0.0F);
  return data;
}

std::vector<int64_t> own_rows() {
  std::vector<int64_t> indices(kOwnRows);
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int64_t>(i * 7919 % 1000);
  }
  return indices;
}

Array gathered(int threads = 0) {
  const std::vector<float> data = own_table();
  const std::vector<int64_t> indices = own_rows();
  const Plan plan = plan_gather(TensorSpec(f32, {1000, kColumns}), TensorSpec(i64, {kOwnRows}));
  Array output(plan.output());
  plan.run(data.data(), indices.data(), output.tensor().data, {.threads = threads});
  return output;
}

void expect_right(const Array& output) {
  const Array expected = gathered(1);
  EXPECT_TRUE(std::ranges::equal(output.elements<float>(), expected.elements<float>()));
}

bool cpu_is_there() {
  const Plan plan = plan_gather(TensorSpec(f32, {8}), TensorSpec(i64, {2}));
  return kernel_name(plan).starts_with("cpu");
}

TEST(Workers, RunTheWorkOfThisThread) {
  OwnPool pool;
  {
    const WorkersScope scope(pool.workers(3));
    expect_right(gathered());
  }
  if (cpu_is_there()) {
    EXPECT_GE(pool.calls, 1);
    EXPECT_LE(pool.tasks, 3 * pool.calls);
  }
  const int calls = pool.calls;
  expect_right(gathered());  // the scope has ended
  EXPECT_EQ(pool.calls, calls);
}

TEST(Workers, KeepToTheLimitOfTheRun) {
  OwnPool pool;
  const WorkersScope scope(pool.workers(8));
  expect_right(gathered(2));
  EXPECT_LE(pool.tasks, 2 * pool.calls);
  const int calls = pool.calls;
  expect_right(gathered(1));
  EXPECT_EQ(pool.calls, calls) << "one thread is the caller's";
}

TEST(Workers, WhatTheyLeaveOutIsDoneByTheCaller) {
  OwnPool pool;
  pool.works = false;
  const WorkersScope scope(pool.workers(4));
  expect_right(gathered());
}

TEST(Workers, OfSeveralScopesTheLastCounts) {
  OwnPool outer, inner;
  const WorkersScope first(outer.workers(2));
  {
    const WorkersScope second(inner.workers(2));
    expect_right(gathered());
    EXPECT_EQ(outer.calls, 0);
    const WorkersScope none(Workers{});
    EXPECT_EQ(current_workers(), nullptr);
    const int calls = inner.calls;
    expect_right(gathered());
    EXPECT_EQ(inner.calls, calls);
  }
  expect_right(gathered());
  EXPECT_EQ(outer.calls > 0, cpu_is_there());
}

TEST(Workers, AreThoseOfOneThread) {
  OwnPool pool;
  const WorkersScope scope(pool.workers(2));
  std::thread([] { EXPECT_EQ(current_workers(), nullptr); }).join();
}

}  // namespace
}  // namespace sheaf
