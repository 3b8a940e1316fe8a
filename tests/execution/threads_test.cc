// SPDX-License-Identifier: MIT
//
// One plan, run from many threads at once; one run, spread over many threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "helpers/problem_plan.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr int kThreads = 8;

// Under ThreadSanitizer a run takes a hundred times as long, and one number of threads shows a
// race.
#ifdef __SANITIZE_THREAD__
const std::vector<int> kThreadCounts = {8};
constexpr int64_t kScale = 4;
#else
const std::vector<int> kThreadCounts = {1, 2, 7, 0};
constexpr int64_t kScale = 1;
#endif

TEST(Threads, ShareAPlan) {
  const Plan plan = plan_gather({i32, {64, 16}}, {i64, {256}});
  std::vector<int32_t> data(64 * 16);
  std::iota(data.begin(), data.end(), 0);
  std::atomic<int> wrong = 0;
  std::atomic<int> refused = 0;
  const auto work = [&](int thread) {
    std::vector<int64_t> indices(256);
    for (size_t i = 0; i < indices.size(); ++i) {
      indices[i] = static_cast<int64_t>((i * static_cast<size_t>(thread + 1)) % 64);
    }
    std::vector<int32_t> output(256 * 16);
    for (int round = 0; round < 50; ++round) {
      plan.run(data.data(), indices.data(), output.data());
      for (size_t i = 0; i < indices.size(); ++i) {
        wrong += output[i * 16 + 5] == indices[i] * 16 + 5 ? 0 : 1;
      }
    }
    indices[200] = 64;  // and each thread gets its own error
    try {
      plan.run(data.data(), indices.data(), output.data());
    } catch (const IndexError& error) {
      refused += error.position() == Dims{200} ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(work, t);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, kThreads);
}

// Large enough for every backend to use its threads. The bits are the same from 1 and from many.
TEST(Threads, DoNotChangeTheResult) {
  const std::vector<Plan> plans = {
      plan_gather({i32, {4096, 64}}, {i64, {20000 / kScale}}),
      plan_gather({i32, {64, 4096}}, {i64, {20000 / kScale}}, {.axis = 1}),
      plan_gather_elements({i32, {4096 / kScale, 256}}, {i32, {4096 / kScale, 256}}),
      plan_gather_nd({i32, {512, 512}}, {u16, {300000 / kScale, 2}},
                     {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 3}})};
  for (const Plan& plan : plans) {
    std::vector<int32_t> data(static_cast<size_t>(element_count(plan.data().sizes)));
    std::iota(data.begin(), data.end(), 1);
    const auto count = static_cast<size_t>(element_count(plan.indices().sizes));
    std::vector<std::byte> indices(count * static_cast<size_t>(plan.indices().dtype.bytes()));
    const int64_t extent = plan.nest().coordinates[0].extent;
    for (size_t i = 0; i < count; ++i) {
      write_index(plan.indices().dtype, static_cast<int64_t>(i * 7919) % extent,
                  indices.data() + i * static_cast<size_t>(plan.indices().dtype.bytes()));
    }
    std::vector<int32_t> expected(static_cast<size_t>(element_count(plan.output().sizes)));
    plan.run(data.data(), indices.data(), expected.data(), {.kernel = "reference"});
    for (const std::string& kernel : accepting_kernels(plan)) {
      for (const int threads : kThreadCounts) {
        std::vector<int32_t> output(expected.size(), -1);
        plan.run(data.data(), indices.data(), output.data(),
                 {.threads = threads, .kernel = kernel});
        EXPECT_TRUE(output == expected)
            << kernel << " on " << threads << " threads, " << plan.str();
      }
    }
  }
}

// Updates that collide, by every way of sharing them out: parts of data, cells, sorted cells, and
// the steps of a mean.
TEST(Threads, DoNotChangeAScatter) {
  const ScatterOptions add{.reduction = Reduction::kAdd};
  const std::vector<Plan> plans = {
      plan_scatter({f32, {300, 128}}, {i64, {12000 / kScale}}, {f32, {12000 / kScale, 128}}, add),
      plan_scatter({f32, {300, 16}}, {i64, {40000 / kScale}}, {f32, {40000 / kScale, 16}},
                   {.reduction = Reduction::kMean, .include_self = false}),
      plan_scatter({f32, {16, 8192}}, {i64, {64 / kScale}}, {f32, {64 / kScale, 8192}}, add),
      plan_scatter_elements({f32, {256, 1024}}, {i64, {256, 1024}}, {f32, {256, 1024}},
                            {.reduction = Reduction::kAdd}),
      plan_scatter_nd({f32, {5000}}, {i64, {200000 / kScale, 1}}, {f32, {200000 / kScale}})};
  for (const Plan& plan : plans) {
    std::vector<float> data(static_cast<size_t>(element_count(plan.data().sizes)), 1);
    std::vector<float> updates(static_cast<size_t>(element_count(plan.updates().sizes)));
    std::vector<int64_t> indices(static_cast<size_t>(element_count(plan.indices().sizes)));
    for (size_t i = 0; i < updates.size(); ++i) {
      updates[i] = 1 / static_cast<float>(i + 1);  // sums depend on their order
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      indices[i] = static_cast<int64_t>(i * 7919) % plan.nest().coordinates[0].extent;
    }
    std::vector<float> expected(data.size());
    plan.run(data.data(), indices.data(), updates.data(), expected.data(), {.kernel = "reference"});
    for (const std::string& kernel : accepting_kernels(plan)) {
      for (const int threads : kThreadCounts) {
        std::vector<float> output(data.size());
        plan.run(data.data(), indices.data(), updates.data(), output.data(),
                 {.threads = threads, .kernel = kernel});
        EXPECT_TRUE(output == expected)
            << kernel << " on " << threads << " threads, " << plan.str();
      }
    }
  }
}

// Cancelled by another thread.
TEST(Threads, CancelEachOther) {
  const std::vector<float> data(1000);
  const std::vector<int64_t> indices(1 << 20);
  std::vector<float> output(1 << 20);
  std::atomic<bool> stop = false;
  std::thread other([&] { stop = true; });
  bool cancelled = false;
  while (!cancelled) {
    const CancelScope scope(stop);
    try {
      gather(view(data), view(indices), view(output));
    } catch (const Error& error) {
      cancelled = error.code() == ErrorCode::kCancelled;
      EXPECT_TRUE(cancelled) << error.what();
    }
  }
  other.join();
}

TEST(Threads, AskForKernelsAndPlansAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int64_t round = 1; round < 50; ++round) {
        const Plan plan = plan_gather({f32, {round, 8}}, {i64, {round}});
        const Plan copy = plan;
        wrong += copy == plan && copy.str() == plan.str() ? 0 : 1;
        wrong += backend_names().back() == "reference" && !kernel_name(plan).empty() ? 0 : 1;
        try {
          plan_gather({f32, {round}}, {i64, {round}}, {.axis = round});
          ++wrong;
        } catch (const Error&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sheaf
