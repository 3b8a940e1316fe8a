// SPDX-License-Identifier: MIT
//
// Many threads at once: results do not mix, and each thread has its own last error.
#include <atomic>
#include <string>
#include <thread>

#include "helpers.h"

namespace sheaf::bnns_tests {
namespace {

constexpr int kThreads = 8;
constexpr int kCalls = 200;

struct Problem {
  std::vector<float> values = iota<float>(64 * 16);
  std::vector<int32_t> rows;
  std::vector<float> result = std::vector<float>(32 * 16, -1);
  BNNSNDArrayDescriptor input = describe({BNNSDataLayout2DFirstMajor, {64, 16}}, values);
  BNNSNDArrayDescriptor indices = {};
  BNNSNDArrayDescriptor output = describe({BNNSDataLayout2DFirstMajor, {32, 16}}, result);

  explicit Problem(int seed) {
    for (int i = 0; i < 32; ++i) {
      rows.push_back((i * 7 + seed) % 64);
    }
    indices = describe({BNNSDataLayoutVector, {32}}, rows);
  }

  bool correct() const {
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] != values[static_cast<size_t>(rows[i / 16]) * 16 + i % 16]) {
        return false;
      }
    }
    return true;
  }
};

void run_thread(int number, std::atomic<int>& failures) {
  Problem problem(number);
  const BNNSFilterParameters parameters = {0, static_cast<size_t>(number % 3), nullptr, nullptr};
  const std::string bad = std::to_string(1000 + number);
  for (int call = 0; call < kCalls; ++call) {
    if (call % 2 == 0) {
      const int code =
          BNNSGather(0, &problem.input, &problem.indices, &problem.output, &parameters);
      failures += code != 0 || !problem.correct();
    } else {
      const int32_t kept = std::exchange(problem.rows[5], 1000 + number);
      const int code =
          BNNSGather(0, &problem.input, &problem.indices, &problem.output, &parameters);
      const std::string text = sheaf_last_error();
      failures += code != SHEAF_BNNS_INDEX_OUT_OF_RANGE ||
                  text.find("indices[5] = " + bad + ",") == std::string::npos;
      problem.rows[5] = kept;
    }
  }
}

TEST(BnnsThreads, ManyCallsAtOnce) {
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back(run_thread, number, std::ref(failures));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failures, 0);
}

TEST(BnnsThreads, NewThreadHasNoError) {
  EXPECT_NE(BNNSGather(0, nullptr, nullptr, nullptr, nullptr), 0);
  std::string text = "unset";
  std::thread([&] { text = sheaf_last_error(); }).join();
  EXPECT_EQ(text, "");
  EXPECT_THAT(sheaf_last_error(), testing::HasSubstr("null descriptor"));
}

// One input and one set of indices, read by all.
TEST(BnnsThreads, SharedInputs) {
  Problem shared(3);
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&] {
      Problem own(3);
      for (int call = 0; call < kCalls; ++call) {
        const int code = BNNSGather(0, &shared.input, &shared.indices, &own.output, nullptr);
        failures += code != 0 || !own.correct();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace sheaf::bnns_tests
