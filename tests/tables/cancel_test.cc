// SPDX-License-Identifier: MIT
//
// Calls on tables that are cancelled at each question in turn: they end there, and the next call on
// the same table and stream is as if nothing had been.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "helpers/deferred_device.h"
#include "io/scratch.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;

// Says yes to question number `left` and to those after it.
struct TableCountdown {
  std::atomic<int> left;
  Cancel cancel() {
    return {[](void* self) { return static_cast<TableCountdown*>(self)->left.fetch_sub(1) <= 0; },
            this};
  }
};

class CancelledTables : public Tables {
 protected:
  // Whether the call was cancelled at the question; then waits for what it had started.
  static bool is_cancelled_at(int question, const std::function<void()>& call) {
    TableCountdown later{question};
    const CancelScope scope(later.cancel());
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
      wait(DeviceCall::queue());
      wait({.device = kDeferredBags});
      return true;
    }
    return false;
  }
  // `call` has as many pieces at least, and is asked before each. It checks what it gives.
  static void expect_stops_anywhere(int pieces, const std::function<void()>& call) {
    int question = 0;
    while (question < 1000 && is_cancelled_at(question, call)) {
      ++question;
    }
    EXPECT_GE(question, pieces);
    EXPECT_LT(question, 1000);
  }
  static std::vector<int64_t> twenty() {
    std::vector<int64_t> ids(20);
    std::iota(ids.begin(), ids.end(), 7);
    return ids;
  }
};

TEST_F(CancelledTables, ThatFeedADevice) {
  const Scratch scratch;
  const Table file = open_raw(scratch.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}});
  for (const Table& table :
       {host({.way = "ring", .piece_bytes = 64}),
        host({.way = "ring", .piece_bytes = 64, .cache_bytes = 640}),
        file.with({.piece_bytes = 64}), host({.way = "split", .piece_bytes = 64, .lock = true})}) {
    const DeviceCall call(table, twenty());
    expect_stops_anywhere(10, [&] {
      call.start(table);
      finish(call.plan, table, DeviceCall::queue());
      EXPECT_EQ(call.result(), expected(values_, call));
    });
  }
}

TEST_F(CancelledTables, ThatTheHostReads) {
  DeviceMemory memory(table_device(), values_.size() * 4);
  memory.upload(values_.data(), memory.bytes());
  const Table table =
      Table::device(table_device(), {memory.data(), TensorSpec(i32, {kRows, kColumns})}, nullptr)
          .with({.piece_bytes = 64});
  const std::vector<int64_t> ids = twenty();
  const Plan plan = plan_gather(table.spec(), view(ids).spec);
  std::vector<int32_t> rows(ids.size() * kColumns), right(rows.size());
  plan.run(values_.data(), ids.data(), right.data());
  expect_stops_anywhere(1, [&] {
    run(plan, table, ids.data(), rows.data(), {});
    EXPECT_EQ(rows, right);
  });
}

TEST_F(CancelledTables, ThatAreWrittenTo) {
  const std::vector<int64_t> ids = twenty();
  const std::vector<int32_t> updates(ids.size() * kColumns, 3);
  const Plan plan = plan_scatter(TensorSpec(i32, {kRows, kColumns}), view(ids).spec,
                                 TensorSpec(i32, {20, kColumns}), {.reduction = Reduction::kAdd});
  std::vector<int32_t> right = values_;
  plan.run(right.data(), ids.data(), updates.data(), right.data());
  std::vector<int32_t> memory;
  expect_stops_anywhere(20, [&] {
    memory = values_;
    const Table table =
        Table::host_writable(view(memory, {kRows, kColumns}), nullptr).with({.piece_bytes = 64});
    run_scatter(plan, table, ids.data(), updates.data(), DeviceCall::queue());
    EXPECT_EQ(memory, right);
  });
}

TEST_F(CancelledTables, WhoseRowsArePooled) {
  std::vector<float> floats(values_.begin(), values_.end());
  const Table table =
      Table::host(view(floats, {kRows, kColumns}), nullptr).with({.way = "ring", .piece_bytes = 1});
  const std::vector<int64_t> ids = twenty();
  const BagPlan plan = plan_bag({table.spec(), TensorSpec(i64, {10, 2}), {}, {}});
  std::vector<float> sums(10 * kColumns), right(sums.size());
  plan.run({.stored = floats.data(), .indices = ids.data(), .output = right.data()});
  for (const char* const device : {kDeferred, kDeferredBags}) {
    expect_stops_anywhere(10, [&] {
      const Queue queue{.device = device};
      run(plan, table, {.indices = ids.data(), .output = sums.data()}, queue);
      finish(plan, table, queue);
      EXPECT_EQ(sums, right);
    });
  }
}

}  // namespace
