// SPDX-License-Identifier: MIT
//
// Rows that are brought ahead of time: a hint that changes no bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/refusal.h"
#include "io/scratch.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

constexpr int64_t kPrefetchedBytes = kColumns * 4;  // of a row

class PrefetchedTables : public Tables {
 protected:
  static void fetch_ahead(const Table& table, const DeviceCall& call) {
    prefetch(call.plan, table, call.indices.data(), DeviceCall::queue());
  }
};

TEST_F(PrefetchedTables, AreInTheCacheWhenTheyAreAskedFor) {
  const Table table = host({.piece_bytes = 2000, .cache_bytes = 400 * kPrefetchedBytes});
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 100; ++i) {
    ids.push_back(i * 7);
  }
  const DeviceCall call(table, ids);
  fetch_ahead(table, call);
  EXPECT_EQ(stats(table).rows_prefetched, 100);
  EXPECT_EQ(stats(table).rows_fetched, 0);
  EXPECT_EQ(stats(table).calls, 0);
  expect_rows(table, ids);
  EXPECT_EQ(stats(table).cache_hits, 100);
  EXPECT_EQ(stats(table).rows_fetched, 0);
  fetch_ahead(table, call);  // all are there
  EXPECT_EQ(stats(table).rows_prefetched, 100);
}

TEST_F(PrefetchedTables, TakeThePlaceOfOthersButNotOfOneAnother) {
  const Table table = host({.cache_bytes = 10 * kPrefetchedBytes});
  for (int round = 0; round < 5; ++round) {
    expect_rows(table, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
  std::vector<int64_t> ids = {5, 6};
  for (int64_t row = 100; row < 120; ++row) {
    ids.push_back(row);
  }
  const DeviceCall call(table, ids);
  fetch_ahead(table, call);
  EXPECT_EQ(stats(table).rows_prefetched, 10);  // as many as there are slots for
  const int64_t hits = stats(table).cache_hits;
  expect_rows(table, {5, 6, 100, 101, 102, 103, 104, 105, 106, 107});
  EXPECT_EQ(stats(table).cache_hits - hits, 10);
}

TEST_F(PrefetchedTables, CountRowsOnceHoweverOftenTheyAreNamed) {
  const Table table = host({.cache_bytes = 10 * kPrefetchedBytes});
  expect_rows(table, {0});
  std::vector<int64_t> ids(50, 0);  // is there
  ids.insert(ids.end(), 50, 1);
  ids.insert(ids.end(), {2, 3, 4});
  fetch_ahead(table, DeviceCall(table, ids));
  EXPECT_EQ(stats(table).rows_prefetched, 4);
  const int64_t hits = stats(table).cache_hits;
  expect_rows(table, {0, 1, 2, 3, 4});
  EXPECT_EQ(stats(table).cache_hits - hits, 5);
}

TEST_F(PrefetchedTables, SkipIndicesThatAreOutOfRange) {
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust, OutOfRange::kFill}) {
    const Table table = host({.cache_bytes = 10 * kPrefetchedBytes});
    const DeviceCall call(table, {3, 1000, -1001, 1 << 30, 4}, {.rule = {.out_of_range = rule}});
    fetch_ahead(table, call);
    EXPECT_EQ(stats(table).rows_prefetched, 2);
  }
}

TEST_F(PrefetchedTables, NeedACache) {
  const Table table = host();
  const DeviceCall call(table, {1, 2, 3});
  fetch_ahead(table, call);
  EXPECT_EQ(stats(table).rows_prefetched, 0);
  prefetch(call.plan, table, call.ids.data(), {});  // nor on the host
  EXPECT_EQ(stats(table).rows_prefetched, 0);
  const Table given = host({.cache_bytes = 64, .cached_rows = {7}});
  fetch_ahead(given, call);
  EXPECT_EQ(stats(given).rows_prefetched, 0);
}

TEST_F(PrefetchedTables, ComeFromFilesIntoEitherCache) {
  const Scratch scratch;
  const Table file = open_raw(scratch.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}});
  const Table cached = file.with({.cache_bytes = 10 * kPrefetchedBytes});
  const DeviceCall call(cached, {3, 900, 3});
  fetch_ahead(cached, call);
  EXPECT_EQ(stats(cached).rows_prefetched, 2);
  expect_rows(cached, {3, 900, 3});
  EXPECT_EQ(stats(cached).rows_fetched, 0);
  RowCache rows(1 << 20);
  TableOptions options;
  options.file.cache = &rows;
  const Table on_host = file.with(options);
  fetch_ahead(on_host, call);
  EXPECT_EQ(stats(on_host).rows_prefetched, 2);
  const int64_t misses = rows.misses();
  expect_rows(on_host, {3, 900, 3});
  EXPECT_EQ(rows.misses(), misses);
}

TEST_F(PrefetchedTables, TakeIndicesOfTheHost) {
  const Table table = host({.cache_bytes = 10 * kPrefetchedBytes});
  const DeviceCall call(table, {8, 9, 8});
  prefetch(call.plan, table, call.ids.data(), DeviceCall::queue(), IndexPlace::kHost);
  EXPECT_EQ(stats(table).rows_prefetched, 2);
  expect_rows(table, {9, 8});
  EXPECT_EQ(stats(table).cache_hits, 2);
}

TEST_F(PrefetchedTables, AreGathersRows) {
  const Table table = host({.cache_bytes = 64});
  const Plan scatter = plan_scatter(table.spec(), TensorSpec(i64, {1}), TensorSpec(i32, {1, 16}));
  EXPECT_THAT(refusal([&] { prefetch(scatter, table, nullptr, {}); }),
              HasSubstr("this is a scatter, but rows are prefetched for a gather\n"));
  const Plan other = plan_gather(TensorSpec(i32, {4, 4}), TensorSpec(i64, {1}));
  EXPECT_THAT(refusal([&] { prefetch(other, table, nullptr, {}); }), HasSubstr("data"));
  const DeviceCall call(table, {1});
  EXPECT_THAT(refusal([&] { prefetch(call.plan, table, nullptr, DeviceCall::queue()); }),
              HasSubstr("indices has elements, but its pointer is null"));
}

}  // namespace
