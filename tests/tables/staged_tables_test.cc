// SPDX-License-Identifier: MIT
//
// Tables that feed a device which takes copies that are enqueued, and reads locked host memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "helpers/table_world.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

class StagedTables : public Tables {
 protected:
  void TearDown() override {
    limit_pinned_memory(INT64_MAX);
    set_capturing(false);
  }
};

TEST_F(StagedTables, ExplainWhatIsLocked) {
  const DeviceCall call(host(), {1});
  const std::string device(table_device());
  EXPECT_EQ(explain(call.plan, host({.lock = true}), call.queue()),
            "rows of 64 bytes, by the way \"ring\"\n"
            "  host: the queue runs on device " +
                device +
                "\n"
                "  device: the table is in host memory\n"
                "  mapped: rows of 64 bytes are faster in pieces\n"
                "  split: nothing was measured that speaks for it\n"
                "  ring: takes the call\n"
                "  file: the table is in host memory\n"
                "  download: the table is in host memory\n"
                "  decided by the limit of 2048 bytes: nothing was measured here (sheaf doctor "
                "--measure does)\n");
  EXPECT_THAT(explain(call.plan, host({.way = "mapped", .lock = true}), call.queue()),
              HasSubstr("rows of 64 bytes, by the way \"mapped\" that the options name\n"));
}

TEST_F(StagedTables, CopyOnePieceWhileTheNextIsGathered) {
  const Table table = host({.way = "ring", .piece_bytes = 300, .pieces = 3});
  const DeviceCall call(table, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  call.start(table);
  EXPECT_GT(steps_waiting(), 0);  // the call returned before the last pieces were copied
  EXPECT_NE(call.result(), expected(values_, call));
  finish(call.plan, table, call.queue());
  EXPECT_EQ(call.result(), expected(values_, call));
}

TEST_F(StagedTables, KeepTheRingFromCallToCall) {
  const Table table = host({.way = "ring"});
  expect_rows(table, {1, 2, 3});
  limit_pinned_memory(0);
  expect_rows(table, {4, 5, 6});
  EXPECT_TRUE(stats(table).staging_pinned);
}

TEST_F(StagedTables, FallBackWherePinnedMemoryIsShort) {
  limit_pinned_memory(1 << 20);
  const Table smaller = host({.way = "ring", .piece_bytes = 1 << 20, .pieces = 3});
  expect_rows(smaller, zipf(5000));
  EXPECT_TRUE(stats(smaller).staging_pinned);
  EXPECT_LT(stats(smaller).staging_bytes, 1 << 20);
  limit_pinned_memory(0);
  const Table pageable = host({.way = "ring", .piece_bytes = 1 << 12});
  expect_rows(pageable, zipf(5000));
  EXPECT_FALSE(stats(pageable).staging_pinned);
  EXPECT_EQ(stats(pageable).staging_bytes, 1 << 12);
}

TEST_F(StagedTables, AreReadByTheDeviceWhereThatPays) {
  std::vector<int32_t> values(8 * 512);  // rows of 2 KiB
  std::iota(values.begin(), values.end(), 0);
  const Table table = Table::host(view(values, {8, 512}), nullptr).with({.lock = true});
  const DeviceCall call(table, {7, 0, 7});
  call.start(table);
  EXPECT_EQ(stats(table).way, "mapped");
  finish(call.plan, table, call.queue());
  EXPECT_EQ(call.result(), expected(values, call));
  const DeviceCall bad(table, {8});
  bad.start(table);
  EXPECT_EQ(index_error([&] { finish(bad.plan, table, bad.queue()); }).bad_count(), 1);
  EXPECT_EQ(bad.result(), std::string(bad.bytes(), '\xEE'));
}

TEST_F(StagedTables, GoByTwoWaysAtOnce) {
  const Table table = host({.way = "split", .piece_bytes = 1000, .lock = true});
  expect_rows(table, zipf(1000));
  const TableStats after = stats(table);
  EXPECT_EQ(after.way, "split");
  EXPECT_EQ(after.rows, 1000);
  EXPECT_GT(after.rows_fetched, 400);
  EXPECT_LT(after.rows_fetched, 600);  // the others were read by the device
  expect_rows(table, {});
  expect_rows(table, {7});
  expect_rows(table, {7, 2000, -1, 3, 1 << 20},
              {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 9}});
  const DeviceCall bad(table, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1000});
  EXPECT_EQ(index_error([&] { bad.start(table); }).bad_count(), 1);
  EXPECT_EQ(bad.result(), std::string(bad.bytes(), '\xEE'));
  const DeviceCall call(host(), {1});
  const std::vector<int32_t> other = values_;  // which nobody locked
  const Table unlocked =
      Table::host(view(other, {kRows, kColumns}), nullptr).with({.way = "split"});
  EXPECT_THAT(refusal([&] { call.start(unlocked); }, ErrorCode::kUnsupported),
              HasSubstr("split: the table's memory is not locked"));
  EXPECT_THAT(refusal([&] { call.start(host({.way = "split", .lock = true, .cache_bytes = 64})); },
                      ErrorCode::kUnsupported),
              HasSubstr("split: rows are cached as they come in pieces"));
}

TEST_F(StagedTables, AreFetchedWhereTheyCannotBeLocked) {
  const std::vector<int32_t> values(8 * 512);
  limit_pinned_memory(0);
  const Table table = Table::host(view(values, {8, 512}), nullptr).with({.lock = true});
  const DeviceCall call(table, {7, 0, 7});
  call.start(table);
  EXPECT_EQ(stats(table).way, "ring");
  finish(call.plan, table, call.queue());
}

TEST_F(StagedTables, ThatShareMemoryLockItOnce) {
  const DeviceCall call(host(), {1, 2});
  const Table first = host({.way = "mapped", .lock = true});
  {
    const Table second = host({.way = "mapped", .lock = true});
    call.start(second);
    call.start(first);
    finish(call.plan, second, call.queue());
  }
  call.start(first);  // it is still locked
  finish(call.plan, first, call.queue());
  EXPECT_EQ(call.result(), expected(values_, call));
}

TEST_F(StagedTables, CanBeCapturedWhereNoHostThreadTakesPart) {
  set_capturing(true);
  const DeviceCall call(host(), {1});
  EXPECT_EQ(refusal([&] { call.start(host({.way = "ring"})); }, ErrorCode::kUnsupported),
            "gather: no way to the rows\n"
            "  ring: the stream is being captured, and a graph cannot hold host threads\n"
            "  data i32[1000, 16]   indices i64[1]   axis 0   output i32[1, 16]\n"
            "  try: explain(plan, table, queue), which lists the ways");
  const Table locked = host({.lock = true});
  call.start(locked);
  EXPECT_EQ(stats(locked).way, "mapped");
  finish(call.plan, locked, call.queue());
}

TEST_F(StagedTables, ServeManyStreamsAtOnce) {
  const Table table = host({.way = "ring", .piece_bytes = 500, .pieces = 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      int stream = 0;
      for (int round = 0; round < 20; ++round) {
        std::vector<int64_t> ids;
        for (int64_t i = 0; i < 100; ++i) {
          ids.push_back((i * (t + 1) * 37 + round) % (kRows / (round + 1)));
        }
        const DeviceCall call(table, ids);
        call.start(table, &stream);
        finish(call.plan, table, call.queue(&stream));
        EXPECT_EQ(call.result(), expected(values_, call));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(stats(table).calls, 80);
}

class MixedCalls : public TableTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(MixedCalls, HaveTheBytesOfPlainMemory) {
  Rng rng(GetParam());
  for (int world = 0; world < 60; ++world) {
    EXPECT_EQ(run_table_world([&](int64_t low, int64_t high) { return rng.from(low, high); }), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Share, MixedCalls, testing::Range(uint64_t{77}, uint64_t{85}));

TEST_F(StagedTables, RefuseForks) {
  const Table table = host({.way = "ring"});
  const DeviceCall call(table, {1});
  call.start(table);
  finish(call.plan, table, call.queue());
  const pid_t child = fork();
  if (child == 0) {
    try {
      call.start(table);
    } catch (const Error& error) {
      const bool told = std::string_view(error.what())
                            .starts_with(
                                "gather: used after a fork\n"
                                "  the table has memory of a device that another process opened\n");
      _exit(told ? 0 : 1);
    }
    _exit(2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
