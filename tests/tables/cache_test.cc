// SPDX-License-Identifier: MIT
//
// Rows that stay on the device: the same bytes with and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "helpers/refusal.h"
#include "io/scratch.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

constexpr int64_t kRowBytes = kColumns * 4;

class CachedTables : public Tables {};

TEST_F(CachedTables, HaveTheSameBytesWithEveryCacheSize) {
  for (const int64_t rows : {0, 1, 3, 100, 1000, 5000}) {
    for (const int64_t piece_bytes : {smallest_piece(), int64_t{2000}, int64_t{1} << 20}) {
      const Table table =
          host({.piece_bytes = piece_bytes, .cache_bytes = rows * kRowBytes + kRowBytes / 2});
      for (int call = 0; call < 3; ++call) {
        expect_rows(table, zipf(400));
        expect_rows(table, {0, 999, 5, -1, 5});
        expect_rows(table, {7, 2000, -1, 3, 1 << 20},
                    {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 9}});
      }
      const TableStats after = stats(table);
      EXPECT_EQ(after.cache_hits + after.cache_misses, rows == 0 ? 0 : 3 * (400 + 5 + 3));
      if (rows >= 1000) {  // all that was ever asked for
        EXPECT_GT(after.cache_hits, 2 * 408);
      }
    }
  }
}

TEST_F(CachedTables, FetchNothingTwiceIfAllFits) {
  const Table table = host({.cache_bytes = kRows * kRowBytes});
  std::vector<int64_t> all(static_cast<size_t>(kRows));
  std::iota(all.begin(), all.end(), 0);
  expect_rows(table, all);
  EXPECT_EQ(stats(table).rows_fetched, kRows);
  expect_rows(table, all);
  expect_rows(table, zipf(5000));
  EXPECT_EQ(stats(table).rows_fetched, kRows);
  EXPECT_EQ(stats(table).cache_misses, kRows);
}

TEST_F(CachedTables, KeepTheRowsThatAreAskedForMost) {
  const Table table = host({.cache_bytes = 16 * kRowBytes});
  Rng rng(3);
  for (int call = 0; call < 40; ++call) {
    std::vector<int64_t> ids;
    for (int64_t hot = 0; hot < 12; ++hot) {
      ids.push_back(hot * 50);
      ids.push_back(hot * 50);
      ids.push_back(rng.from(0, kRows - 1));  // asked for once
    }
    expect_rows(table, ids);
  }
  const TableStats after = stats(table);
  EXPECT_GT(after.cache_hits, after.rows * 2 / 5);  // 2 of 3 are hot
}

TEST_F(CachedTables, KeepGivenRows) {
  const Table table = host({.cache_bytes = 3 * kRowBytes, .cached_rows = {10, 20, 30, 40}});
  expect_rows(table, {10, 20, 30, 40, 40, 10});
  const TableStats after = stats(table);
  EXPECT_EQ(after.cache_hits, 4);    // 40 did not fit
  EXPECT_EQ(after.rows_fetched, 1);  // each once
  expect_rows(table, {40, 30});
  EXPECT_EQ(stats(table).rows_fetched, 2);
}

TEST_F(CachedTables, AreForgottenOnDemand) {
  const Table table = host({.cache_bytes = kRows * kRowBytes});
  const Table given = host({.cache_bytes = kRowBytes, .cached_rows = {5}});
  expect_rows(table, {5});
  expect_rows(given, {5});
  values_[5 * kColumns] = -1;
  forget_cached_rows(table);
  forget_cached_rows(given);
  expect_rows(table, {5});
  expect_rows(given, {5});
}

TEST_F(CachedTables, FollowScattersIntoTheirFile) {
  const Scratch scratch;
  const Table table = open_raw(scratch.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}})
                          .with({.cache_bytes = kRows * kRowBytes});
  expect_rows(table, {3, 4});
  expect_rows(table, {3, 4});
  EXPECT_EQ(stats(table).rows_fetched, 2);
  const std::vector<int64_t> ids = {3};
  const std::vector<int32_t> row(kColumns, 5);
  scatter(table, view(ids), view(row, {1, kColumns}));
  std::copy(row.begin(), row.end(), values_.begin() + 3 * kColumns);
  expect_rows(table, {3, 4});
}

TEST_F(CachedTables, SurviveACallThatFails) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", bytes_of(values_));
  const Table table = open_raw(path, {i32, {kRows, kColumns}})
                          .with({.piece_bytes = 200, .cache_bytes = kRows * kRowBytes});
  expect_rows(table, {3, 4});
  std::filesystem::resize_file(path, 100);
  const DeviceCall call(table, {3, 999, 4, 998});
  EXPECT_THROW(call.start(table), FileError);
  finish(call.plan, table, call.queue());
  const DeviceCall bad(table, {3, 5000});
  EXPECT_THROW(bad.start(table), IndexError);
}

TEST_F(CachedTables, SurviveBadIndices) {
  const Table table = host({.cache_bytes = kRows * kRowBytes});
  expect_rows(table, {3, 4});
  const DeviceCall bad(table, {3, 5000});
  EXPECT_THROW(bad.start(table), IndexError);
  expect_rows(table, {4, 3});
  EXPECT_EQ(stats(table).rows_fetched, 2);
}

TEST_F(CachedTables, LeaveOtherPlansAlone) {
  const Table table = host({.cache_bytes = kRows * kRowBytes});
  const std::vector<int64_t> ids = {3, 3, 1};
  const Plan plan = plan_gather(table.spec(), view(ids).spec, {.axis = 1});
  const auto bytes = static_cast<size_t>(kRows * 3 * 4);
  DeviceMemory indices(table_device(), 24);
  const DeviceMemory output(table_device(), bytes);
  indices.upload(ids.data(), 24);
  run(plan, table, indices.data(), output.data(), {.device = table_device()});
  finish(plan, table, {.device = table_device()});
  std::vector<int32_t> expected_columns(bytes / 4), got(bytes / 4);
  plan.run(values_.data(), ids.data(), expected_columns.data());
  output.download(got.data(), bytes);
  EXPECT_EQ(got, expected_columns);
  EXPECT_EQ(stats(table).cache_misses, 0);
}

TEST_F(CachedTables, RefuseImpossibleOptions) {
  EXPECT_THAT(refusal([&] { host({.cache_bytes = -1}); }),
              HasSubstr("cache_bytes -1 for 0 cached_rows"));
  EXPECT_THAT(refusal([&] { host({.cached_rows = {1}}); }),
              HasSubstr("cache_bytes 0 for 1 cached_rows"));
  EXPECT_EQ(refusal([&] { host({.cache_bytes = 64, .cached_rows = {1000}}); }),
            "table: no such row\n"
            "  cached_rows has 1000, but the table is i32[1000, 16]\n"
            "  try: numbers of rows from 0 on");
  EXPECT_THAT(refusal([&] { host({.cache_bytes = 64, .cached_rows = {-1}}); }),
              HasSubstr("cached_rows has -1, but"));
  const Table one = Table::host({values_.data(), TensorSpec(i32, {})}, nullptr);
  EXPECT_THAT(refusal([&] { one.with({.cache_bytes = 64, .cached_rows = {0}}); }),
              HasSubstr("cached_rows has 0, but the table is i32[]"));
}

}  // namespace
