// SPDX-License-Identifier: MIT
#include "sheaf/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "helpers/refusal.h"
#include "io/scratch.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

TEST_F(Tables, SayWhereTheyLie) {
  const Scratch scratch;
  const Table file = open_raw(scratch.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}});
  EXPECT_EQ(to_string(file.place()), "file");
  EXPECT_EQ(to_string(host().place()), "host");
  const DeviceMemory memory(table_device(), 64);
  const Table device = Table::device(table_device(), {memory.data(), {i32, {1, 16}}}, nullptr);
  EXPECT_EQ(to_string(device.place()), "device");
  EXPECT_EQ(device.info().bytes, 64);
}

TEST_F(Tables, HostMemoryIsATableForTheFunctionsOnFiles) {
  const std::vector<int64_t> ids = {3, -1, 0};
  const Array rows = gather(host(), view(ids));
  EXPECT_EQ(rows.elements<int32_t>()[0], 3 * kColumns);
  EXPECT_EQ(rows.elements<int32_t>()[static_cast<size_t>(kColumns)], (kRows - 1) * kColumns);
  EXPECT_EQ(host().load().elements<int32_t>()[17], 17);
}

TEST_F(Tables, InMemoryAreNoTargetOfScattersIntoFiles) {
  const std::vector<int64_t> ids = {3};
  const std::vector<int32_t> row(kColumns, 5);
  EXPECT_EQ(refusal([&] {
              scatter(host(), view(ids), view(row, {1, kColumns}));
            }),
            "table: not in a file\n"
            "  i32[1000, 16] is in memory\n"
            "  try: a scatter on that memory, or run_scatter_to_file into a new file");
  const Scratch scratch;
  const std::string path = scratch.path("new.npy");
  const Plan plan = plan_scatter(host().spec(), view(ids).spec, TensorSpec(i32, {1, kColumns}));
  run_scatter_to_file(plan, host(), view(ids), view(row, {1, kColumns}), path);
  EXPECT_EQ(open_table(path).load().elements<int32_t>()[3 * kColumns], 5);
  EXPECT_EQ(values_[3 * kColumns], 3 * kColumns);
}

TEST_F(Tables, HoldTheirMemory) {
  auto held = std::make_shared<std::vector<int32_t>>(values_);
  const std::weak_ptr<std::vector<int32_t>> watch = held;
  {
    Table table = Table::host(view(*held, {kRows, kColumns}), held);
    held.reset();
    EXPECT_FALSE(watch.expired());
    expect_rows(table, {5, 6});
    const Table copy = table.with({.piece_bytes = 100});
    table = host();
    EXPECT_FALSE(watch.expired());
    expect_rows(copy, {5, 6});
  }
  EXPECT_TRUE(watch.expired());
  Array array(TensorSpec(i32, {2, 2}));
  array.elements<int32_t>()[3] = 77;
  EXPECT_EQ(Table::host(std::move(array)).load().elements<int32_t>()[3], 77);
}

TEST_F(Tables, FetchRepeatedRowsOnce) {
  const Table table = host({.way = "ring"});
  expect_rows(table, {7, 8, 7, 7, 9, 8, 7, 7});
  const TableStats after = stats(table);
  EXPECT_EQ(after.calls, 1);
  EXPECT_EQ(after.rows, 8);
  EXPECT_EQ(after.rows_fetched, 3);
  EXPECT_EQ(after.bytes_to_device, 3 * 64 + 8 * 4);
  EXPECT_EQ(after.pieces, 1);
  EXPECT_EQ(after.way, "ring");
}

TEST_F(Tables, CopyRowsThatDoNotRepeatStraightIntoTheOutput) {
  const Table table = host({.way = "ring"});
  expect_rows(table, {1, 5, 2, 999});
  EXPECT_EQ(stats(table).bytes_to_device, 4 * 64);
}

TEST_F(Tables, StayInTheirPieces) {
  for (const int64_t piece_bytes :
       {smallest_piece(), int64_t{1} << 10, int64_t{4000}, int64_t{1} << 16}) {
    const Table table = host({.way = "ring", .piece_bytes = piece_bytes, .pieces = 2});
    expect_rows(table, zipf(3000));
    expect_rows(table, {});
    const int64_t staging = stats(table).staging_bytes;
    EXPECT_LE(staging, 2 * std::max<int64_t>(piece_bytes, 128));
    expect_rows(table, zipf(5000));
    EXPECT_EQ(stats(table).staging_bytes, staging);
  }
}

TEST_F(Tables, FollowEveryIndexRule) {
  const std::vector<int64_t> ids = {0, 1000, -1, -1000, 1001, 7, 999, -1001, 1 << 20};
  for (const OutOfRange rule : {OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
    for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
      for (const int64_t piece_bytes : {1, 1 << 20}) {
        expect_rows(host({.way = "ring", .piece_bytes = piece_bytes}), ids,
                    {.rule = {negative, rule, 42}});
      }
    }
  }
}

TEST_F(Tables, RefuseTheFirstBadIndexAndWriteNothing) {
  const std::vector<int64_t> ids = {0, 5, 1000, 7, -2000};
  const Plan plan = plan_gather(TensorSpec(i32, {kRows, kColumns}), view(ids).spec);
  std::vector<int32_t> output(ids.size() * kColumns);
  const std::string plain =
      index_error([&] { plan.run(values_.data(), ids.data(), output.data()); }).what();
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    const Table table = host({.way = "ring"});
    const DeviceCall call(table, ids, {.rule = {.out_of_range = rule}});
    const IndexError error = index_error([&] { call.start(table); });
    EXPECT_EQ(error.bad_count(), 2);
    EXPECT_EQ(error.position(), Dims{2});
    if (rule == OutOfRange::kFail) {
      EXPECT_EQ(error.what(), plain);
    }
    finish(call.plan, table, call.queue());
    EXPECT_EQ(call.result(), std::string(call.bytes(), '\xEE'));
  }
}

TEST_F(Tables, ReadIndicesOnce) {
  const Table table = host({.way = "ring", .piece_bytes = 64});
  DeviceCall call(table, {1, 2, 3, 4});
  call.start(table);
  const std::vector<int64_t> other = {1 << 30, -(1 << 30), 1 << 30, 0};
  call.indices.upload(other.data(), 32);
  finish(call.plan, table, call.queue());
  EXPECT_EQ(call.result(), expected(values_, call));
}

TEST_F(Tables, AreOrderedByTheStream) {
  const Table table = host({.way = "ring", .piece_bytes = 256});
  const DeviceCall first(table, {10, 11, 12, 13, 14, 15, 16, 17, 18});
  const DeviceCall second(table, {20, 20, 20, 21, 20, 20, 21, 20, 20});
  first.start(table);
  run(second.plan, table, second.indices.data(), first.output.data(), second.queue());
  finish(second.plan, table, second.queue());
  EXPECT_EQ(first.result(), expected(values_, second));
}

TEST_F(Tables, ExplainTheWays) {
  const Table table = host();
  const DeviceCall call(table, {1});
  const std::string device(table_device());
  const std::string unlocked = device != "vulkan" ? "the table's memory is not locked"
                                                  : "device " + device + " reads no host memory";
  EXPECT_EQ(explain(call.plan, table, call.queue()),
            "rows of 64 bytes, by the way \"ring\"\n"
            "  host: the queue runs on device " +
                device +
                "\n"
                "  device: the table is in host memory\n"
                "  mapped: " +
                unlocked +
                "\n"
                "  split: " +
                unlocked +
                "\n"
                "  ring: takes the call\n"
                "  file: the table is in host memory\n"
                "  download: the table is in host memory\n");
  EXPECT_EQ(table_ways(call.plan, table, {})[0].refusal, "");
  EXPECT_EQ(table_ways(call.plan, table, {})[3].refusal, "the queue runs on the host");
}

TEST_F(Tables, RefuseAWayThatCannotRun) {
  const DeviceCall call(host(), {1, 2});
  const auto refused = [&](const std::string& way) {
    return refusal([&] { call.start(host({.way = way})); }, ErrorCode::kUnsupported);
  };
  EXPECT_EQ(refused("device"),
            "gather: no way to the rows\n"
            "  device: the table is in host memory\n"
            "  data i32[1000, 16]   indices i64[2]   axis 0   output i32[2, 16]\n"
            "  try: explain(plan, table, queue), which lists the ways");
  EXPECT_THAT(refused("tunnel"), HasSubstr("  \"tunnel\" names no way\n"));
  EXPECT_THAT(refused("file"), HasSubstr("  file: the table is in host memory\n"));
}

TEST_F(Tables, RefuseWhatTheyCannotBe) {
  const std::string text = refusal([&] {
    Table::host({values_.data() + 20, TensorSpec(i32, {3, 2}, {-2, 1})}, nullptr);
  });
  EXPECT_EQ(text,
            "table: negative strides\n"
            "  rows before the pointer: i32[3, 2] strides [-2, 1]\n"
            "  try: a copy of the tensor in row-major order");
  EXPECT_THAT(refusal([] {
                Table::host({nullptr, TensorSpec(i32, {3})}, nullptr);
              }),
              HasSubstr("table: null pointer\n  i32[3] has elements, but its pointer is null\n"));
  EXPECT_THAT(
      refusal([] {
        Table::host({nullptr, TensorSpec(i32, {int64_t{1} << 40, int64_t{1} << 40})}, nullptr);
      }),
      HasSubstr("too large"));
  EXPECT_THAT(refusal([&] {
                Table::host({values_.data(), TensorSpec(i32, {3, 2}, {INT64_MAX / 2, 1})}, nullptr);
              }),
              HasSubstr("table: too large\n  the strides of "));
  EXPECT_THAT(refusal([] {
                Table::device("", {nullptr, TensorSpec(i32, {0})}, nullptr);
              }),
              HasSubstr("table: no device\n  its name is empty\n"));
  EXPECT_EQ(refusal([&] { host({.piece_bytes = 0}); }),
            "table: impossible options\n"
            "  piece_bytes 0 (1 or more), pieces 4 (1 to 64), threads 0 (0 or more)\n"
            "  try: the defaults of TableOptions");
  EXPECT_THAT(refusal([&] { host({.pieces = 65}); }), HasSubstr("pieces 65 (1 to 64)"));
  EXPECT_THAT(refusal([&] { host({.pieces = 0}); }), HasSubstr("pieces 0 (1 to 64)"));
  EXPECT_THAT(refusal([&] { host({.threads = -1}); }), HasSubstr("threads -1 (0 or more)"));
}

TEST_F(Tables, RefusePlansOfOtherTablesAndOperators) {
  const Table table = host();
  const TensorSpec other(i32, {kRows, kColumns + 1});
  const Plan gather_other = plan_gather(other, TensorSpec(i64, {1}));
  EXPECT_THAT(refusal([&] { run(gather_other, table, nullptr, nullptr, {}); }), HasSubstr("data"));
  const Plan scatter = plan_scatter(table.spec(), TensorSpec(i64, {1}), TensorSpec(i32, {1, 16}));
  EXPECT_EQ(
      refusal([&] { run(scatter, table, nullptr, nullptr, {}); }),
      "scatter: plan of another operator\n"
      "  this is a scatter, but it was run as a gather on a table\n"
      "  data i32[1000, 16]   indices i64[1]   updates i32[1, 16]   axis 0   output i32[1000, 16]\n"
      "  try: a plan of a gather, or run_scatter");
  const DeviceCall call(table, {1, 2});
  EXPECT_THAT(refusal([&] { run(call.plan, table, nullptr, call.output.data(), call.queue()); }),
              HasSubstr("indices has elements, but its pointer is null"));
  EXPECT_THAT(
      refusal([&] { run(call.plan, table, call.output.data(), call.output.data(), call.queue()); }),
      HasSubstr("output overlaps an input"));
}

TEST_F(Tables, OfAnotherDeviceAreRefused) {
  const Table device = Table::device("another", {values_.data(), TensorSpec(i32, {4, 4})}, nullptr);
  const DeviceCall call(device, {1});
  EXPECT_THAT(refusal([&] { call.start(device); }, ErrorCode::kUnsupported),
              HasSubstr("device: the queue runs on device " + std::string(table_device())));
  EXPECT_THAT(refusal([&] { gather(device, view(call.ids)); }, ErrorCode::kUnsupported),
              HasSubstr("its rows are in memory of device another"));
}

class TableFiles : public Tables {
 protected:
  Scratch scratch_;
};

TEST_F(TableFiles, FeedADeviceFromEveryFormat) {
  const ConstTensor tensor = view(values_, {kRows, kColumns});
  for (const std::string name : {"t.npy", "t.npz", "t.safetensors", "t.onnx"}) {
    const std::string path = scratch_.path(name);
    save(path, "weights", tensor);
    for (const int64_t piece_bytes : {200, 1 << 20}) {
      const Table table = open_table(path).with({.piece_bytes = piece_bytes});
      expect_rows(table, {999, 0, 5, 5, -1});
      EXPECT_EQ(stats(table).way, table.place() == TablePlace::kFile ? "file" : "ring") << name;
    }
  }
}

TEST_F(TableFiles, CutShortOrReplacedAreErrors) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  const Table table = open_raw(path, {i32, {kRows, kColumns}});
  expect_rows(table, {999});
  std::filesystem::resize_file(path, 100);
  const DeviceCall call(table, {999});
  EXPECT_THROW(call.start(table), FileError);
  EXPECT_EQ(call.result(), std::string(call.bytes(), '\xEE'));
}

TEST_F(TableFiles, FollowScattersInPlace) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  const Table table = open_raw(path, {i32, {kRows, kColumns}});
  expect_rows(table, {3});
  const std::vector<int64_t> ids = {3};
  const std::vector<int32_t> row(kColumns, 5);
  scatter(table, view(ids), view(row, {1, kColumns}));
  std::copy(row.begin(), row.end(), values_.begin() + 3 * kColumns);
  expect_rows(table, {3, 4});
}

TEST_F(TableFiles, GoToTheHostToo) {
  const Table table =
      open_raw(scratch_.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}});
  const std::vector<int64_t> ids = {4, 4, 999};
  const Plan plan = plan_gather(table.spec(), view(ids).spec);
  std::vector<int32_t> rows(ids.size() * kColumns);
  run(plan, table, ids.data(), rows.data(), {});
  EXPECT_EQ(rows[2 * kColumns], 999 * kColumns);
  EXPECT_EQ(stats(table).way, "file");
  std::vector<int32_t> mine(rows.size());
  run(plan, host(), ids.data(), mine.data(), {});
  EXPECT_EQ(mine, rows);
}

}  // namespace
