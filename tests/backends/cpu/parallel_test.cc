// SPDX-License-Identifier: MIT
#include "backends/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "sheaf/cancel.h"

namespace sheaf::cpu {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Parallel, EveryPieceRunsOnceWithAScopeOrWithout) {
  constexpr int64_t kCounts[] = {2, 3, 7, 1001, 5000};
  constexpr Threads kThreads[] = {{2, 2}, {3, 3}, {2, 4}, {16, 0}, {3000, 0}};
  const auto runs = [](int64_t count, Threads threads) {
    std::vector<std::atomic<int>> all(static_cast<size_t>(count));
    run_on_threads(count, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        ++all[static_cast<size_t>(i)];
      }
    });
    return std::vector<int>(all.begin(), all.end());
  };
  for (const int64_t count : kCounts) {
    for (const Threads threads : kThreads) {
      const std::vector<int> once(static_cast<size_t>(count), 1);
      EXPECT_EQ(runs(count, threads), once) << count << " on " << threads.count;
      const CancelScope scope(Cancel{});
      EXPECT_EQ(runs(count, threads), once) << count << " on " << threads.count;
    }
  }
}

// As a question whether to go on may do, in the middle of a call.
TEST(Parallel, ACallMayBeMadeInsideAnother) {
  std::atomic<int64_t> inner = 0;
  run_on_threads(8, {2, 2}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      run_on_threads(10, {3, 3}, [&](int64_t from, int64_t to) { inner += to - from; });
    }
  });
  EXPECT_EQ(inner, 80);
}

// Says yes to the thread that made it, and to no other, as soon as another thread works.
struct CallersQuestion {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> others_work = false;
  static bool asked(void* context) {
    const auto& self = *static_cast<CallersQuestion*>(context);
    return std::this_thread::get_id() == self.caller && self.others_work;
  }
};

// The calling thread has nothing left to do, and another is in a piece that never ends by itself.
TEST(Parallel, TheCallerAsksWhileOthersFinish) {
  CallersQuestion question;
  const CancelScope scope({CallersQuestion::asked, &question});
  std::atomic<bool> gave_up = false;
  const auto until = [](auto reached, std::chrono::seconds limit) {
    const auto end = Clock::now() + limit;
    while (!reached() && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return reached();
  };
  run_on_threads(2, {2, 2}, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() == question.caller) {
      until([&] { return question.others_work.load(); }, std::chrono::seconds(2));
    } else {
      question.others_work = true;
      gave_up = !until([&] { return scope.was_cancelled(); }, std::chrono::seconds(20));
    }
  });
  if (!question.others_work) {
    GTEST_SKIP() << "the pool has no other thread here";
  }
  EXPECT_FALSE(gave_up) << "nobody asked";
}

}  // namespace
}  // namespace sheaf::cpu
