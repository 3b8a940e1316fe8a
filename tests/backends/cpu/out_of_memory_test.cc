// SPDX-License-Identifier: MIT
//
// Each allocation of a run fails in turn, oneTBB's on the calling thread included: the run still
// succeeds or is refused with its output untouched, and so does the next one. (Where an allocation
// of a worker thread fails, oneTBB itself ends the process.)
#include <gtest/gtest.h>
#include <sheaf/c.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "helpers/sanitized.h"
#include "sheaf/sheaf.h"

// With a sanitizer, malloc is the sanitizer's.
#if SHEAF_SANITIZED || !defined(__GLIBC__)
#define SHEAF_OWN_MALLOC 0
#else
#define SHEAF_OWN_MALLOC 1
#endif

namespace {

thread_local int64_t allocations_left = INT64_MAX;  // the one after the last of them fails

[[maybe_unused]] bool fails_now() { return allocations_left-- == 0; }

}  // namespace

#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"  // glibc's name
#endif
#if SHEAF_OWN_MALLOC
extern "C" {
void* __libc_malloc(size_t bytes);
void* malloc(size_t bytes) { return fails_now() ? nullptr : __libc_malloc(bytes); }
}
#endif

namespace sheaf {
namespace {

constexpr int64_t kCount = 150000;

// Runs in a child: oneTBB starts anew, and a hang ends by the alarm.
enum Outcome { kAllWell = 0, kWrong = 1, kNothingFailed = 2 };

template <class Run>
Outcome run_with_failure(int64_t allocations, Run run) {
  allocations_left = allocations;
  const bool first = run();
  const bool failed = allocations_left < 0;
  allocations_left = INT64_MAX;
  if (!first || !run()) {  // the second run has memory again
    return kWrong;
  }
  return failed ? kAllWell : kNothingFailed;
}

template <class Run>
int in_child(int64_t allocations, Run run) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(run_with_failure(allocations, run));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <class Run>
void fail_each_allocation(Run run) {
  if (!SHEAF_OWN_MALLOC) {
    GTEST_SKIP() << "needs a malloc of its own";
  }
  constexpr int64_t kMost = 2000;
  int64_t at = 0;
  for (int outcome = kAllWell; outcome != kNothingFailed; ++at) {
    outcome = in_child(at, run);
    ASSERT_TRUE(outcome == kAllWell || outcome == kNothingFailed)
        << "allocation " << at << " fails: outcome " << outcome << " (128 + a signal)";
    ASSERT_LT(at, kMost);
  }
  EXPECT_GT(at, 3) << "oneTBB was not reached";
}

// True if the output is as it should be, or untouched with an error that says why.
template <class Call>
bool well_ended(std::vector<float>& output, const std::vector<float>& expected, Call call) {
  std::fill(output.begin(), output.end(), -1.0F);
  const auto untouched = [&] {
    return std::all_of(output.begin(), output.end(), [](float value) { return value == -1.0F; });
  };
  try {
    call();
  } catch (const std::bad_alloc&) {
    return untouched();
  } catch (const Error& error) {
    return error.code() == ErrorCode::kOutOfMemory && untouched();
  }
  return output == expected;
}

TEST(OutOfMemory, LeavesAGatherWhole) {
  const Plan plan = plan_gather({f32, {1000}}, {i64, {kCount}});
  std::vector<float> data(1000);
  std::vector<int64_t> indices(kCount);
  std::vector<float> output(kCount), expected(kCount);
  for (size_t i = 0; i < indices.size(); ++i) {
    data[i % 1000] = static_cast<float>(i % 1000);
    indices[i] = static_cast<int64_t>(i * 7919 % 1000);
    expected[i] = static_cast<float>(indices[i]);
  }
  for (const int threads : {0, 2}) {
    fail_each_allocation([&] {
      return well_ended(output, expected, [&] {
        plan.run(data.data(), indices.data(), output.data(), {.threads = threads});
      });
    });
  }
}

// By every reduction, and as each way of calling it.
class OutOfMemoryScatter : public testing::TestWithParam<Reduction> {};

TEST_P(OutOfMemoryScatter, LeavesTheOutputWhole) {
  constexpr int64_t kCells = 20000;
  const ScatterNdOptions options{.reduction = GetParam()};
  const std::vector<float> data(kCells, 1.0F);
  std::vector<int64_t> indices(kCount);
  std::vector<float> updates(kCount), output(kCells), expected(kCells);
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int64_t>(i * 7919 % kCells);
    updates[i] = static_cast<float>(i % 8);
  }
  const Plan plan = plan_scatter_nd({f32, {kCells}}, {i64, {kCount, 1}}, {f32, {kCount}}, options);
  plan.run(data.data(), indices.data(), updates.data(), expected.data(), {.kernel = "reference"});
  for (const int threads : {0, 2}) {
    fail_each_allocation([&] {
      return well_ended(output, expected, [&] {
        plan.run(data.data(), indices.data(), updates.data(), output.data(), {.threads = threads});
      });
    });
  }
  fail_each_allocation([&] {  // planned and run in one call
    return well_ended(output, expected, [&] {
      scatter_nd(view(data), view(indices, {kCount, 1}), view(updates), view(output), options);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Every, OutOfMemoryScatter,
                         testing::Values(Reduction::kNone, Reduction::kAdd, Reduction::kSub,
                                         Reduction::kMul, Reduction::kMin, Reduction::kMax,
                                         Reduction::kMean));

TEST(OutOfMemory, LeavesOtherCallsWhole) {
  std::vector<float> data(kCount), output(kCount), expected(kCount);
  std::vector<int64_t> indices(kCount);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i);
    indices[i] = static_cast<int64_t>(data.size() - 1 - i);
    expected[i] = static_cast<float>(indices[i]);
  }
  fail_each_allocation([&] {
    return well_ended(output, expected, [&] { gather(view(data), view(indices), view(output)); });
  });
  fail_each_allocation([&] {
    return well_ended(output, expected, [&] {
      const Array made = gather(view(data), view(indices));
      const auto values = made.elements<float>();
      std::copy(values.begin(), values.end(), output.begin());
    });
  });
  fail_each_allocation(
      [&] { return well_ended(output, data, [&] { copy(view(data), view(output)); }); });
  const DLDevice host{kDLCPU, 0};
  int64_t count = kCount;
  const DLTensor from{data.data(), host, 1, {kDLFloat, 32, 1}, &count, nullptr, 0};
  const DLTensor by{indices.data(), host, 1, {kDLInt, 64, 1}, &count, nullptr, 0};
  const DLTensor to{output.data(), host, 1, {kDLFloat, 32, 1}, &count, nullptr, 0};
  fail_each_allocation([&] {
    return well_ended(output, expected, [&] {
      if (sheaf_gather(&from, &by, &to, nullptr) == SHEAF_OUT_OF_MEMORY) {
        throw std::bad_alloc();
      }
    });
  });
}

}  // namespace
}  // namespace sheaf
