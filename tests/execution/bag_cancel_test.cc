// SPDX-License-Identifier: MIT
//
// Bags and gathers of encoded tables that are cancelled: on every kernel, at every question.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "execution/registry.h"
#include "helpers/bag_problem.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// Says yes to question number `left` and to those after it.
struct BagCountdown {
  std::atomic<int> left;
  Cancel cancel() {
    return {[](void* self) { return static_cast<BagCountdown*>(self)->left.fetch_sub(1) <= 0; },
            this};
  }
};

template <class Call>
ErrorCode end_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{};
}

BagProblem problem_of(const EncodedSpec& data, int64_t entries, int64_t bags, SegmentForm form,
                      OutOfRange rule = OutOfRange::kFail) {
  Rng rng(11);
  BagProblem problem;
  problem.specs.data = data;
  problem.specs.indices = TensorSpec(i64, {entries});
  std::vector<int64_t> lengths(static_cast<size_t>(bags), entries / bags);
  lengths.back() += entries % bags;
  const std::vector<int64_t> segments = segments_of(lengths, form, false);
  problem.specs.segments = TensorSpec(i64, {static_cast<int64_t>(segments.size())});
  problem.options.segments = form;
  problem.options.bags = form == SegmentForm::kIds ? bags : -1;
  problem.options.rule.out_of_range = rule;
  problem.make_tensors(rng);
  problem.segments.set_all(segments);
  return problem;
}

// Cancelled at each question in turn, until there are no more: the run then gives what it should.
void expect_stops_anywhere(const BagProblem& problem, int least_questions) {
  const BagPlan plan = problem.plan();
  const BagResult right = problem.on_reference();
  for (const std::string_view kernel : bag_kernels(plan)) {
    for (const int threads : {1, 2}) {
      int questions = 0;
      for (bool cancelled = true; cancelled; questions += questions < 4 ? 1 : 7) {
        BagCountdown later{questions};
        const CancelScope scope(later.cancel());
        BagBytes output(plan.output());
        const ErrorCode code = end_of([&] {
          plan.run(problem.memory(output.bytes.data()), {.threads = threads, .kernel = kernel});
        });
        cancelled = code == ErrorCode::kCancelled;
        ASSERT_TRUE(cancelled || code == ErrorCode{}) << kernel;
        ASSERT_EQ(cancelled, scope.was_cancelled()) << kernel;
        ASSERT_LT(questions, 10000);
        ASSERT_TRUE(cancelled || output.bytes == right.output) << kernel;
      }
      EXPECT_GT(questions, least_questions) << kernel << "\n" << plan.str();
    }
  }
}

TEST(CancelledBag, SaysSo) {
  const BagProblem problem =
      problem_of(TensorSpec(f32, {10, 16}), 1 << 18, 1, SegmentForm::kOffsets);
  const std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  std::vector<float> output(16, -1);
  EXPECT_EQ(
      refusal([&] { problem.plan().run(problem.memory(output.data())); }, ErrorCode::kCancelled),
      "bag: cancelled\n"
      "  the caller ended the work; the output may hold a part of it\n"
      "  try: the same call again");
  EXPECT_EQ(output, std::vector<float>(16, -1)) << "cancelled while indices were checked";
}

TEST(CancelledBag, StopsAtEveryQuestion) {
  expect_stops_anywhere(
      problem_of(TensorSpec(f32, {512, 64}), 1 << 15, 1 << 10, SegmentForm::kOffsets), 2);
  expect_stops_anywhere(  // short rows, which cost more than their bytes
      problem_of(TensorSpec(f32, {512, 1}), 1 << 17, 1 << 16, SegmentForm::kOffsets), 4);
  expect_stops_anywhere(
      problem_of(TensorSpec(f16, {4, 1 << 18}), 8, 2, SegmentForm::kLengths, OutOfRange::kClamp),
      2);  // few rows, each of half a MiB
  expect_stops_anywhere(problem_of(encoded_rows(Encoding::kRowU8F32, {512, 64}), 1 << 15, 4,
                                   SegmentForm::kIds, OutOfRange::kSkip),
                        2);
  expect_stops_anywhere(problem_of(TensorSpec(i64, {512, 16}), 1 << 15, 3, SegmentForm::kOffsets),
                        2);
}

// Before anything is written, however many segments there are.
TEST(CancelledBag, StopsWhileSegmentsAreRead) {
  for (const SegmentForm form : {SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds}) {
    const BagProblem problem =
        problem_of(TensorSpec(f32, {4, 1}), 1 << 19, 1 << 19, form, OutOfRange::kClamp);
    const BagPlan plan = problem.plan();
    std::vector<float> output(1 << 19, -1);
    BagCountdown later{1};
    const CancelScope scope(later.cancel());
    EXPECT_EQ(end_of([&] { plan.run(problem.memory(output.data())); }), ErrorCode::kCancelled);
    EXPECT_EQ(output, std::vector<float>(1 << 19, -1)) << to_string(form);
  }
}

// A cancelled reading of lengths is no wrong sum of them, and empty bags take their time as well.
TEST(CancelledBag, ManyBagsWithoutEntries) {
  Rng rng(3);
  BagProblem problem;
  problem.specs.data = TensorSpec(f32, {4, 1});
  problem.specs.indices = TensorSpec(i64, {1});
  problem.specs.segments = TensorSpec(i64, {1});
  problem.options.segments = SegmentForm::kIds;
  problem.options.bags = 1 << 19;
  problem.make_tensors(rng);
  problem.segments.set(0, (1 << 19) - 1);
  expect_stops_anywhere(problem, 12);
}

TEST(CancelledEncodedGather, StopsAtEveryQuestion) {
  const EncodedSpec table = encoded_rows(Encoding::kQ8_0, {64, 1024});
  const BagBytes stored(table.stored);
  for (const int64_t axis : {0, 1}) {
    const std::vector<int64_t> indices(1 << 10, 3);
    const EncodedGatherPlan plan =
        plan_gather_encoded(table, view(indices).spec, GatherOptions{.axis = axis});
    std::vector<float> output(static_cast<size_t>(element_count(plan.output().sizes)));
    for (const Backend* backend : host_backends()) {
      for (const EncodedKernel& kernel : backend->encoded) {
        int questions = 0;
        for (bool cancelled = true; cancelled; ++questions) {
          BagCountdown later{questions};
          const CancelScope scope(later.cancel());
          const ErrorCode code = end_of([&] {
            plan.run({stored.start(), nullptr, nullptr, indices.data(), output.data()},
                     {.threads = 1 + questions % 2, .kernel = kernel.name});
          });
          cancelled = code == ErrorCode::kCancelled;
          ASSERT_TRUE(cancelled || code == ErrorCode{}) << kernel.name;
        }
        EXPECT_GT(questions, 1) << kernel.name;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf
