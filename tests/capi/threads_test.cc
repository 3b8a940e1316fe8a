// SPDX-License-Identifier: MIT
//
// One plan, many threads; errors stay with the thread that made them.
#include <atomic>
#include <thread>

#include "helpers.h"

namespace sheaf::capi_tests {
namespace {

constexpr int kThreads = 8;

struct Shared {
  Values<float> data{std::vector<float>(300 * 8), {300, 8}};
  sheaf_plan* plan = nullptr;
  std::atomic<int> failures = 0;

  Shared() {
    for (size_t i = 0; i < data.values.size(); ++i) {
      data.values[i] = static_cast<float>(i);
    }
    const Values<int32_t> indices(std::vector<int32_t>(64), {64});
    EXPECT_EQ(sheaf_plan_gather(data, indices, nullptr, nullptr, &plan), SHEAF_OK);
  }
  ~Shared() { sheaf_plan_destroy(plan); }
};

void run_thread(Shared& shared, int number) {
  Values<int32_t> indices(std::vector<int32_t>(64), {64});
  Values<float> output(std::vector<float>(64 * 8), {64, 8});
  for (int call = 0; call < 100; ++call) {
    for (int i = 0; i < 64; ++i) {
      indices.values[static_cast<size_t>(i)] = (i * 11 + number + call) % 300;
    }
    const bool bad = call % 4 == 3;
    if (bad) {
      indices.values[7] = 5000 + number;
    }
    sheaf_run_options options = {};
    options.threads = number % 3;
    const sheaf_status status = sheaf_plan_run(shared.plan, shared.data, indices, output, &options);
    if (bad) {
      const std::string wanted = "indices[7] = " + std::to_string(5000 + number) + ",";
      shared.failures += status != SHEAF_INDEX_OUT_OF_RANGE ||
                         std::string(sheaf_last_error()).find(wanted) == std::string::npos;
      continue;
    }
    shared.failures += status != SHEAF_OK;
    for (size_t i = 0; i < output.values.size(); ++i) {
      const size_t from = static_cast<size_t>(indices.values[i / 8]) * 8 + i % 8;
      shared.failures += output.values[i] != static_cast<float>(from);
    }
    shared.failures += sheaf_plan_str(shared.plan) == nullptr;
  }
}

TEST(CapiThreads, OnePlanForAll) {
  Shared shared;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back(run_thread, std::ref(shared), number);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(shared.failures, 0);
}

}  // namespace
}  // namespace sheaf::capi_tests
