// SPDX-License-Identifier: MIT
//
// Runs that are cancelled: on every kernel, in every step, and what they leave behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "execution/cancel.h"
#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// Says yes to question number `left` and to those after it.
struct Countdown {
  std::atomic<int> left;
  Cancel cancel() {
    return {[](void* self) { return static_cast<Countdown*>(self)->left.fetch_sub(1) <= 0; }, this};
  }
};

template <class Call>
ErrorCode code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{};
}

constexpr int64_t kCount = 1 << 20;

std::vector<int64_t> indices_below(int64_t entries, int64_t count) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int64_t>(i * 7919) % entries;
  }
  return indices;
}

TEST(Cancelled, SaysSo) {
  const std::vector<float> data(10);
  const std::vector<int64_t> indices(kCount);
  std::vector<float> output(kCount, -1);
  const std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  EXPECT_EQ(
      refusal([&] { gather(view(data), view(indices), view(output)); }, ErrorCode::kCancelled),
      "gather: cancelled\n"
      "  the caller ended the work; the output may hold a part of it\n"
      "  data f32[10]   indices i64[1048576]   axis 0   output f32[1048576]\n"
      "  try: the same call again");
  EXPECT_EQ(output, std::vector<float>(kCount, -1)) << "cancelled while indices were checked";
}

TEST(Cancelled, WorkOfMillisecondsAsksEachTime) {
  const Plan plan = plan_gather({f32, {10}}, {i64, {2}});
  EXPECT_NO_THROW(ask_and_throw(nullptr, plan.request()));
  Countdown later{1};
  const CancelScope scope(later.cancel());
  EXPECT_NO_THROW(ask_and_throw(&scope, plan.request()));
  EXPECT_EQ(code_of([&] { ask_and_throw(&scope, plan.request()); }), ErrorCode::kCancelled);
}

TEST(Cancelled, SmallCallsDoNotAsk) {
  Countdown at_once{0};
  const CancelScope scope(at_once.cancel());
  const std::vector<float> data = {1, 2};
  const std::vector<int64_t> indices = {1, 0};
  EXPECT_EQ(gather(view(data), view(indices)).elements<float>()[0], 2);
  EXPECT_EQ(at_once.left, 0);
}

TEST(Cancelled, NothingIsByAScopeThatAsksNobody) {
  const CancelScope scope(Cancel{});
  EXPECT_FALSE(scope.cancelled());
  EXPECT_NO_THROW(throw_if_cancelled(&scope, "cast"));
  EXPECT_NO_THROW(throw_if_cancelled(nullptr, "cast"));
  const std::vector<int32_t> from = {1};
  std::vector<float> to = {7};
  EXPECT_NO_THROW(cast(view(from, {0}, {1}), view(to, {0}, {1})));
  EXPECT_EQ(to[0], 7);
}

TEST(Cancelled, TheInnermostScopeCounts) {
  const std::atomic<bool> yes = true, no = false;
  const std::vector<float> data(10);
  const std::vector<int64_t> indices(kCount);
  const auto call = [&] { gather(view(data), view(indices)); };
  {
    const CancelScope outer(yes);
    {
      const CancelScope inner(no);
      EXPECT_NO_THROW(call());
    }
    EXPECT_EQ(code_of(call), ErrorCode::kCancelled);
    EXPECT_TRUE(outer.was_cancelled());
  }
  EXPECT_NO_THROW(call());
}

// After a yes no loop goes on, however deep the one was that asked.
TEST(Cancelled, LoopsAroundALoopEnd) {
  const int64_t rows = 1 << 14, columns = 64;  // the inner loop is far shorter than a question
  const Plan plan = plan_gather_elements({i32, {rows, columns}}, {i64, {rows, columns}},
                                         {.rule = {.out_of_range = OutOfRange::kClamp}});
  const std::vector<int32_t> data(static_cast<size_t>(rows * columns), 5);
  const std::vector<int64_t> indices(data.size());
  std::vector<int32_t> output(data.size(), -1);
  Countdown third{2};
  const CancelScope scope(third.cancel());
  EXPECT_EQ(code_of([&] {
              plan.run(data.data(), indices.data(), output.data(), {.kernel = "reference"});
            }),
            ErrorCode::kCancelled);
  const auto written = std::count(output.begin(), output.end(), 5);
  EXPECT_GT(written, 0);
  EXPECT_LE(written, 4 * CancelPoint::kPieceBytes / CancelPoint::kRowCost);
}

TEST(Cancelled, EveryGatherKernelStops) {
  const std::vector<Plan> plans = {
      plan_gather({i32, {4096, 64}}, {i64, {1 << 16}}),
      plan_gather({i32, {64, 4096}}, {i64, {1 << 14}}, {.axis = 1}),
      plan_gather({i32, {4, 1 << 20}}, {i64, {8}}),  // rows of 4 MiB
      plan_gather({i32, {4, 1 << 20}}, {i64, {8}},
                  {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 7}}),
      plan_gather_elements({i32, {1024, 1024}}, {i64, {1024, 1024}}),
      plan_gather_nd({i32, {512, 512}}, {i64, {1 << 19, 2}})};
  for (const Plan& plan : plans) {
    const std::vector<int32_t> data(static_cast<size_t>(element_count(plan.data().sizes)), 5);
    const std::vector<int64_t> indices =
        indices_below(plan.nest().coordinates[0].extent, element_count(plan.indices().sizes));
    std::vector<int32_t> output(static_cast<size_t>(element_count(plan.output().sizes)));
    for (const std::string& kernel : accepting_kernels(plan)) {
      if (kernel == "cpu.small") {
        continue;
      }
      for (const int threads : {1, 2}) {
        std::fill(output.begin(), output.end(), -1);
        Countdown later{2};
        const CancelScope scope(later.cancel());
        const auto run = [&] {
          plan.run(data.data(), indices.data(), output.data(),
                   {.threads = threads, .kernel = kernel, .output_is_fresh = true});
        };
        EXPECT_EQ(code_of(run), ErrorCode::kCancelled) << kernel << "\n" << plan.str();
        EXPECT_TRUE(std::all_of(output.begin(), output.end(),
                                [](int32_t value) { return value == 5 || value == -1; }))
            << kernel << ": elements are old or new";
        EXPECT_EQ(std::count(output.begin(), output.end(), 5) == std::ssize(output), false)
            << kernel << " did not stop\n"
            << plan.str();
      }
    }
  }
}

struct ScatterCase {
  Plan plan;
  std::vector<float> data, updates, output;
  std::vector<int64_t> indices;

  explicit ScatterCase(Plan made)
      : plan(std::move(made)),
        data(static_cast<size_t>(element_count(plan.data().sizes)), 0),
        updates(static_cast<size_t>(element_count(plan.updates().sizes)), 1),
        output(data.size(), -1),
        indices(indices_below(plan.nest().coordinates[0].extent,
                              element_count(plan.indices().sizes))) {}

  void run(const RunOptions& options) {
    plan.run(data.data(), indices.data(), updates.data(), output.data(), options);
  }
};

// Cancelled at each question in turn: in the check, the copy, the start, the updates, the counts
// and the division.
TEST(Cancelled, EveryScatterKernelAndStepStops) {
  const ScatterOptions mean{.reduction = Reduction::kMean, .include_self = false};
  std::vector<ScatterCase> cases;
  cases.emplace_back(plan_scatter({f32, {256, 1024}}, {i64, {256}}, {f32, {256, 1024}}, mean));
  cases.emplace_back(plan_scatter({f32, {8, 1 << 18}}, {i64, {4}}, {f32, {4, 1 << 18}},
                                  {.reduction = Reduction::kAdd}));  // rows of a MiB
  cases.emplace_back(plan_scatter({f32, {2, 1 << 19}}, {i64, {2}}, {f32, {2, 1 << 19}},
                                  {.reduction = Reduction::kAdd}));  // and of two
  cases.emplace_back(plan_scatter_nd({f32, {1 << 18}}, {i64, {1 << 18, 1}}, {f32, {1 << 18}},
                                     {.reduction = Reduction::kAdd}));
  for (ScatterCase& c : cases) {
    for (const std::string& kernel : accepting_kernels(c.plan)) {
      for (const int threads : {1, 2}) {
        int questions = 0;
        for (bool cancelled = true; cancelled; ++questions) {
          Countdown later{questions};
          const CancelScope scope(later.cancel());
          const ErrorCode code = code_of([&] { c.run({.threads = threads, .kernel = kernel}); });
          cancelled = code == ErrorCode::kCancelled;
          ASSERT_TRUE(cancelled || code == ErrorCode{}) << kernel;
          ASSERT_EQ(cancelled, scope.was_cancelled()) << kernel;
          ASSERT_LT(questions, 10000);
        }
        EXPECT_GT(questions, 2) << kernel << "\n" << c.plan.str();
        const std::vector<float> complete = c.output;
        c.run({.kernel = "reference"});
        EXPECT_EQ(complete, c.output) << kernel;
      }
    }
  }
}

TEST(Cancelled, AScatterInF32LeavesTheOutput) {
  const Plan plan = plan_scatter({f16, {1 << 18}}, {i64, {1 << 18}}, {f16, {1 << 18}},
                                 {.reduction = Reduction::kAdd, .accumulate_f32 = true});
  const std::vector<uint16_t> data(1 << 18), updates(1 << 18, 0x3C00);
  const std::vector<int64_t> indices = indices_below(1 << 18, 1 << 18);
  std::vector<uint16_t> output(1 << 18, 7);
  Countdown first{0};
  const CancelScope scope(first.cancel());
  EXPECT_EQ(code_of([&] { plan.run(data.data(), indices.data(), updates.data(), output.data()); }),
            ErrorCode::kCancelled);
  EXPECT_EQ(output, std::vector<uint16_t>(1 << 18, 7));
}

TEST(Cancelled, MovesStop) {
  std::vector<int32_t> numbers(kCount);
  std::vector<double> wide(kCount);
  const ConstTensor from = view(numbers, {1, kCount});
  const auto stops = [](auto move) {
    Countdown later{1};
    const CancelScope scope(later.cancel());
    return code_of(move) == ErrorCode::kCancelled;
  };
  const Tensor to = view(wide, {1, kCount});
  EXPECT_TRUE(stops([&] { cast(from, to); }));
  EXPECT_TRUE(stops([&] { fill_sequence(to, 0.0, 1.0); }));
  std::vector<int32_t> copied(kCount * 2), largest(kCount / 2);
  EXPECT_TRUE(stops([&] { tile(from, view(copied, {2, kCount}), {2, 1}); }));
  std::vector<int32_t> coordinates(kCount);
  EXPECT_TRUE(stops([&] { nonzero(view(numbers), view(coordinates, {kCount, 1})); }));
  std::vector<int64_t> places(kCount / 2);
  EXPECT_TRUE(stops([&] {
    top_k(view(numbers, {kCount / 2, 2}), view(largest, {kCount / 2, 1}),
          view(places, {kCount / 2, 1}), 1);
  }));
}

}  // namespace
}  // namespace sheaf
