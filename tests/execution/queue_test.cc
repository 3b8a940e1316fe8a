// SPDX-License-Identifier: MIT
//
// The drivers on a queue: what a device is asked to do, in which order, and what is refused first.
#include "sheaf/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "execution/launch.h"
#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

class QueueTest : public testing::Test {
 protected:
  void SetUp() override {
    add_deferred_device();
    std::iota(table.begin(), table.end(), 0.0F);
  }

  Queue queue(const Plan& planned, void* stream = nullptr) {
    workspace.emplace_back(kDeferred, workspace_bytes(planned, {.device = kDeferred}));
    return {.device = kDeferred, .stream = stream, .workspace = workspace.back()};
  }

  std::vector<float> table = std::vector<float>(32);  // 8 rows of 4
  std::vector<int64_t> rows = {7, 0, -1};
  std::vector<float> output = std::vector<float>(12, -1.0F);
  std::vector<DeviceMemory> workspace;
  const Plan plan = plan_gather({f32, {8, 4}}, {i64, {3}});
  const std::vector<float> expected = {28, 29, 30, 31, 0, 1, 2, 3, 28, 29, 30, 31};
  const std::vector<float> untouched = std::vector<float>(12, -1.0F);
};

TEST_F(QueueTest, RunsOnHostThreads) {
  run(plan, table.data(), rows.data(), output.data(), {.threads = 2});
  EXPECT_EQ(output, expected);
  finish(plan, {.threads = 2});
  EXPECT_EQ(workspace_bytes(plan, {}), 0U);
}

TEST_F(QueueTest, ReturnsBeforeTheWorkIsDone) {
  const Queue q = queue(plan);
  run(plan, table.data(), rows.data(), output.data(), q);
  EXPECT_GT(steps_waiting(), 0);
  EXPECT_EQ(output, untouched);
  finish(plan, q);
  EXPECT_EQ(steps_waiting(), 0);
  EXPECT_EQ(output, expected);
}

TEST_F(QueueTest, ReportsTheFirstBadIndexWhenItIsFinished) {
  rows = {7, 9, -10};
  for (const bool fresh : {false, true}) {
    const Queue q = queue(plan);
    run(plan, table.data(), rows.data(), output.data(), q, {.output_is_fresh = fresh});
    try {
      finish(plan, q);
      FAIL() << "no error";
    } catch (const IndexError& error) {
      EXPECT_EQ(error.position(), Dims({1}));
      EXPECT_EQ(error.bad_count(), 2);
      EXPECT_NE(std::string(error.what()).find("indices[1] = 9, but axis 0"), std::string::npos);
    }
    if (!fresh) {
      EXPECT_EQ(output, untouched);
    }
  }
}

TEST_F(QueueTest, FreshOutputsHaveNoCheckBeforeTheKernel) {
  run(plan, table.data(), rows.data(), output.data(), queue(plan), {.output_is_fresh = false});
  const int64_t checked_first = steps_waiting();
  wait({.device = kDeferred});
  const Queue q = queue(plan);
  run(plan, table.data(), rows.data(), output.data(), q, {.output_is_fresh = true});
  EXPECT_EQ(steps_waiting(), checked_first + 1);  // zero, kernel, completion; not check, kernel
  finish(plan, q);
  EXPECT_EQ(output, expected);
}

// What a kernel read was bad, and what is there when the verdict is completed is not: nothing can
// be pointed at, and the output is not what was asked for.
TEST_F(QueueTest, ReportsIndicesThatChangedWhileTheyWereRead) {
  rows = {7, 9, 0};
  const Queue q = queue(plan);
  run(plan, table.data(), rows.data(), output.data(), q, {.output_is_fresh = true});
  run_steps(3);  // zero, workspace, kernel
  rows[1] = 1;
  EXPECT_EQ(refusal([&] { finish(plan, q); }, ErrorCode::kIndexOutOfRange),
            "gather: index out of range\n"
            "  an index was out of range when it was read, and no longer is: indices changed while "
            "the call ran\n"
            "  data f32[8, 4]   indices i64[3]   axis 0   output f32[3, 4]\n"
            "  try: indices that nothing writes to during a call");
  EXPECT_EQ(steps_waiting(), 0);
}

// The host's kernels report likewise: the walk for the error finds nothing any more.
TEST_F(QueueTest, ReportsIndicesThatChangedOnTheHost) {
  rows = {7, 9, 0};
  EXPECT_NE(refusal([&] { throw_bad_index_met(plan, rows.data()); }, ErrorCode::kIndexOutOfRange)
                .find("indices[1] = 9"),
            std::string::npos);
  rows[1] = 1;
  EXPECT_NE(refusal([&] { throw_bad_index_met(plan, rows.data()); }, ErrorCode::kIndexOutOfRange)
                .find("indices changed while the call ran"),
            std::string::npos);
}

TEST_F(QueueTest, NamesTheBadIndexOfATuple) {
  const std::vector<uint64_t> tuples = {7, 3, 0, UINT64_MAX};
  const Plan picks = plan_gather_nd({f32, {8, 4}}, {u64, {2, 2}});
  const Queue q = queue(picks);
  run(picks, table.data(), tuples.data(), output.data(), q);
  EXPECT_NE(refusal([&] { finish(picks, q); }, ErrorCode::kIndexOutOfRange)
                .find("indices[1, 1] = 18446744073709551615, but axis 1 of data has 4 entries"),
            std::string::npos);
  EXPECT_EQ(output, untouched);
}

TEST_F(QueueTest, ScattersWithEveryStep) {
  std::vector<int32_t> at = {1, 1, 3};
  std::vector<float> updates = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const bool include_self : {false, true}) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd, Reduction::kMean}) {
      const Plan scatters = plan_scatter({f32, {8, 4}}, {i32, {3}}, {f32, {3, 4}},
                                         {.reduction = reduction, .include_self = include_self});
      std::vector<float> got(32, -7.0F), wanted(32);
      const Queue q = queue(scatters);
      run(scatters, table.data(), at.data(), updates.data(), got.data(), q);
      EXPECT_EQ(got, std::vector<float>(32, -7.0F));
      finish(scatters, q);
      scatters.run(table.data(), at.data(), updates.data(), wanted.data(), {.kernel = "reference"});
      EXPECT_EQ(got, wanted) << to_string(reduction) << include_self;
    }
  }
}

TEST_F(QueueTest, StreamsKeepApart) {
  int one = 0, two = 0;
  std::vector<float> other(12, -1.0F);
  const Queue first = queue(plan, &one), second = queue(plan, &two);
  run(plan, table.data(), rows.data(), output.data(), first);
  run(plan, table.data(), rows.data(), other.data(), second);
  finish(plan, second);
  EXPECT_EQ(other, expected);
  EXPECT_EQ(output, untouched);
  finish(plan, first);
  EXPECT_EQ(output, expected);
}

TEST_F(QueueTest, ChoosesByAlignment) {
  const std::vector<KernelReport> reports = kernels_for(plan, {.device = kDeferred});
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].name, "deferred.aligned");
  EXPECT_EQ(reports[0].refusal, "");  // explained for aligned memory
  alignas(16) float shifted[13] = {};
  const Queue q = queue(plan);
  const auto forced = [&] {
    run(plan, table.data(), rows.data(), shifted + 1, q, {.kernel = "deferred.aligned"});
  };
  EXPECT_NE(refusal(forced, ErrorCode::kUnsupported)
                .find("deferred.aligned refuses: rows are not aligned to 16 bytes"),
            std::string::npos);
  run(plan, table.data(), rows.data(), shifted + 1, q);
  finish(plan, q);
  EXPECT_EQ(shifted[1], 28.0F);
}

TEST_F(QueueTest, RefusesBeforeAnythingIsStarted) {
  const auto text = [&](const Queue& q, const void* indices) {
    const std::string what = refusal([&] { run(plan, table.data(), indices, output.data(), q); },
                                     ErrorCode::kInvalidArgument);
    EXPECT_EQ(steps_waiting(), 0);
    return what;
  };
  EXPECT_NE(text({.device = kDeferred}, rows.data()).find("workspace too small"),
            std::string::npos);
  Queue missing = queue(plan);
  missing.workspace.memory = nullptr;
  EXPECT_NE(text(missing, rows.data()).find("the workspace has 0 bytes"), std::string::npos);
  Queue small = queue(plan);
  --small.workspace.bytes;
  EXPECT_NE(text(small, rows.data()).find("workspace too small"), std::string::npos);
  Queue q = queue(plan);
  q.workspace.memory = static_cast<std::byte*>(q.workspace.memory) + 8;
  EXPECT_NE(text(q, rows.data()).find("misaligned workspace"), std::string::npos);
  const auto* odd = reinterpret_cast<const std::byte*>(rows.data()) + 2;
  EXPECT_NE(text(queue(plan), odd).find("indices is i64, but its address is not a multiple of 4"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] { run(plan, table.data(), rows.data(), output.data(), {.device = "abacus"}); },
              ErrorCode::kUnsupported)
          .find("abacus: not built"),
      std::string::npos);
  small.workspace.bytes = 1;
  for (const Queue& without : {Queue{.device = kDeferred}, small}) {
    EXPECT_NE(refusal([&] { finish(plan, without); }, ErrorCode::kInvalidArgument)
                  .find("no verdict to read"),
              std::string::npos);
  }
}

// A kernel says no when it is chosen: the copy of the base must not have been started by then.
TEST_F(QueueTest, AScatterThatNoKernelTakesStartsNothing) {
  const int64_t many = int64_t{1} << 40;
  const Plan scatters = plan_scatter({f32, {8}}, {i64, {many}, {0}}, {f32, {many}, {0}});
  const Queue q = queue(scatters);
  const auto text = refusal(
      [&] {
        run(scatters, table.data(), rows.data(), table.data() + 8, output.data(), q,
            {.kernel = "deferred.one_launch"});
      },
      ErrorCode::kUnsupported);
  EXPECT_NE(text.find("deferred.one_launch refuses: more points than one launch can have"),
            std::string::npos);
  EXPECT_EQ(steps_waiting(), 0);
  EXPECT_EQ(output, untouched);
}

TEST_F(QueueTest, ScattersWithoutAnythingToDoWriteTheBase) {
  const std::vector<int64_t> none = {};
  const Plan scatters =
      plan_scatter({f32, {12}}, {i64, {0}}, {f32, {0}}, {.reduction = Reduction::kMean});
  const Queue q = queue(scatters);
  run(scatters, table.data(), none.data(), none.data(), output.data(), q);
  finish(scatters, q);
  EXPECT_EQ(output, std::vector<float>(table.begin(), table.begin() + 12));
}

TEST_F(QueueTest, UnknownDevicesAreNotThere) {
  const std::vector<std::string> names = device_names();
  EXPECT_NE(std::find(names.begin(), names.end(), kDeferred), names.end());
  EXPECT_FALSE(device_available("abacus"));
  EXPECT_EQ(device_description("abacus"), "this build of Sheaf has no device called \"abacus\"");
  EXPECT_TRUE(kernels_for(plan, {.device = "abacus"}).empty());
}

TEST_F(QueueTest, DeviceMemoryMovesAndTransfers) {
  DeviceMemory memory(kDeferred, 16);
  memory.upload("0123456789abcde", 16);
  DeviceMemory moved(std::move(memory));
  char text[4] = {};
  moved.download(text, 3, 10);
  EXPECT_STREQ(text, "abc");
  moved.fill(std::byte{'x'}, 3, 10);
  moved.download(text, 3, 10);
  EXPECT_STREQ(text, "xxx");
  DeviceMemory other(kDeferred, 0);
  other.upload(nullptr, 0);  // no bytes need no memory
  other.fill(std::byte{'x'}, 0);
  other.download(nullptr, 0);
  other = std::move(moved);
  EXPECT_EQ(other.bytes(), 16U);
  other.download(text, 2, 0);
  EXPECT_STREQ(text, "01x");
  EXPECT_GT(free_device_bytes(kDeferred), 0U);
  EXPECT_TRUE(device_available(kDeferred));
  EXPECT_EQ(device_description(kDeferred), "a device that waits");
}

}  // namespace
}  // namespace sheaf
