// SPDX-License-Identifier: MIT
//
// Scatters into tables, wherever they lie: the bits of the same plan on plain memory, and cached
// rows that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/refusal.h"
#include "io/scratch.h"
#include "tables/device_call.h"
#include "tables/written_rows.h"

namespace {

using namespace sheaf;
using sheaf::tables::WrittenRows;
using Bytes = std::vector<std::byte>;
using testing::ElementsAre;
using testing::HasSubstr;

const TensorSpec kTable(i32, {kRows, kColumns});

// Indices and updates on the device.
struct DeviceScatter {
  std::vector<int64_t> ids;
  std::vector<int32_t> rows;
  Plan plan;
  DeviceMemory indices, updates;

  explicit DeviceScatter(std::vector<int64_t> to, const ScatterOptions& options = {}, int seed = 1)
      : ids(std::move(to)),
        rows(numbers(ids.size() * kColumns, seed)),
        plan(plan_scatter(kTable, view(ids).spec, spec(), options)),
        indices(table_device(), ids.size() * 8),
        updates(table_device(), rows.size() * 4) {
    indices.upload(ids.data(), ids.size() * 8);
    updates.upload(rows.data(), rows.size() * 4);
  }
  TensorSpec spec() const { return {i32, {std::ssize(ids), kColumns}}; }
  void start(const Table& table, void* stream = nullptr) const {
    run_scatter(plan, table, indices.data(), updates.data(), DeviceCall::queue(stream));
  }
  void on(std::vector<int32_t>& values) const {
    plan.run(values.data(), ids.data(), rows.data(), values.data());
  }
  static std::vector<int32_t> numbers(size_t count, int seed) {
    std::vector<int32_t> all(count);
    Rng rng(static_cast<uint64_t>(seed));
    for (int32_t& number : all) {
      number = static_cast<int32_t>(rng.from(-9, 9));
    }
    return all;
  }
};

class ScatteredTables : public Tables {
 protected:
  Table writable(const TableOptions& options = {}) {
    return Table::host_writable(view(memory_, {kRows, kColumns}), nullptr).with(options);
  }
  // Rows of the table as a device sees them, against `values_`.
  void expect_same(const Table& table, const std::vector<int64_t>& ids) const {
    expect_rows(table, ids);
    EXPECT_EQ(memory_, values_);
  }

  std::vector<int32_t> memory_ = numbers();  // of the table; values_ is what it should be
};

TEST(TableWrites, NameTheRowsOfTheLastScatters) {
  WrittenRows writes;
  EXPECT_FALSE(writes.watched());
  writes.watch();
  EXPECT_TRUE(writes.watched());
  const uint64_t start = writes.version();
  EXPECT_THAT(*writes.since(start), ElementsAre());
  writes.add(std::vector<int64_t>{64, 128});
  writes.add(std::vector<int64_t>{0});
  EXPECT_THAT(*writes.since(start), ElementsAre(64, 128, 0));
  EXPECT_THAT(*writes.since(start + 1), ElementsAre(0));
  writes.add(std::nullopt);
  EXPECT_EQ(writes.since(start + 2), std::nullopt);
  EXPECT_THAT(*writes.since(writes.version()), ElementsAre());
  for (int i = 0; i < 40; ++i) {
    writes.add(std::vector<int64_t>{i});
  }
  EXPECT_EQ(writes.since(start), std::nullopt);
  EXPECT_THAT(*writes.since(writes.version() - 2), ElementsAre(38, 39));
}

TEST_F(ScatteredTables, ReduceInOrderWhateverThePieces) {
  for (const Reduction reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kMul, Reduction::kMin, Reduction::kMax}) {
    for (const int64_t piece_bytes : {1, 200, 1 << 20}) {
      const Table table = writable({.piece_bytes = piece_bytes, .pieces = 3});
      const DeviceScatter scatter(zipf(60), {.reduction = reduction});
      scatter.start(table);
      scatter.on(values_);
      EXPECT_EQ(memory_, values_);
      const TableStats after = stats(table);
      EXPECT_EQ(after.way, "host");
      EXPECT_EQ(after.rows_scattered, 60);
      EXPECT_EQ(after.bytes_to_host, 60 * (8 + 64));
      EXPECT_LE(after.staging_bytes, 3 * std::max<int64_t>(piece_bytes, 128));
    }
  }
}

TEST_F(ScatteredTables, ReduceWithStepsBeforeAndAfter) {
  for (const bool self : {false, true}) {
    const Table table = writable({.piece_bytes = 200});
    const DeviceScatter scatter(zipf(50), {.reduction = Reduction::kMean, .include_self = self});
    scatter.start(table);
    scatter.on(values_);
    EXPECT_EQ(memory_, values_);
  }
}

TEST_F(ScatteredTables, TakeInputsOfTheHost) {
  const Table table = writable({.cache_bytes = 1 << 12});
  const DeviceScatter scatter({4, 4, 999, -1}, {.reduction = Reduction::kAdd});
  run_scatter(scatter.plan, table, scatter.ids.data(), scatter.rows.data(), {.threads = 2});
  scatter.on(values_);
  expect_same(table, {4, 999, 5});
  run_scatter(scatter.plan, table, scatter.ids.data(), scatter.rows.data(), DeviceCall::queue(),
              IndexPlace::kHost);
  scatter.on(values_);
  expect_same(table, {4, 999, 5});
  EXPECT_EQ(stats(table).bytes_to_host, 0);
}

TEST_F(ScatteredTables, AreOnTheirDevice) {
  DeviceMemory memory(table_device(), memory_.size() * 4);
  memory.upload(memory_.data(), memory.bytes());
  const Table table = Table::device_writable(table_device(), {memory.data(), kTable}, nullptr);
  const DeviceScatter scatter(zipf(50), {.reduction = Reduction::kAdd});
  const auto expect_scattered = [&](std::string_view way) {
    scatter.on(values_);
    memory.download(memory_.data(), memory.bytes());
    EXPECT_EQ(memory_, values_);
    EXPECT_EQ(stats(table).way, way);
  };
  scatter.start(table);
  finish(scatter.plan, table, DeviceCall::queue());
  expect_scattered("device");
  run_scatter(scatter.plan, table, scatter.ids.data(), scatter.rows.data(), DeviceCall::queue(),
              IndexPlace::kHost);
  finish(scatter.plan, table, DeviceCall::queue());
  expect_scattered("device");
  run_scatter(scatter.plan, table, scatter.ids.data(), scatter.rows.data(), {});
  expect_scattered("upload");
  EXPECT_EQ(stats(table).bytes_to_device, 2 * 50 * (8 + 64));
}

TEST_F(ScatteredTables, InFilesAreChangedInPlace) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", bytes_of(memory_));
  const Table table = open_raw(path, kTable).with({.cache_bytes = kRows * 64});
  expect_rows(table, {3, 4, 4});
  const DeviceScatter scatter({3, 3, 7}, {.reduction = Reduction::kAdd});
  scatter.start(table);
  scatter.on(values_);
  expect_rows(table, {3, 4, 7});
  run_scatter(scatter.plan, table, scatter.ids.data(), scatter.rows.data(), {});
  scatter.on(values_);
  expect_rows(table, {3, 4, 7});
  EXPECT_EQ(stats(table).rows_scattered, 6);
}

TEST_F(ScatteredTables, DropTheCachedRowsThatTheyWrite) {
  const Table table = writable({.cache_bytes = kRows * 64});
  std::vector<int64_t> all(static_cast<size_t>(kRows));
  std::iota(all.begin(), all.end(), 0);
  expect_rows(table, all);
  const DeviceScatter scatter({10, 500, 10}, {.reduction = Reduction::kAdd});
  scatter.start(table);
  scatter.on(values_);
  expect_same(table, all);
  EXPECT_EQ(stats(table).rows_fetched, kRows + 2);
}

TEST_F(ScatteredTables, AreFollowedOnEveryStreamAndByEveryTableOfTheMemory) {
  const Table table = writable();
  const Table small = table.with({.piece_bytes = 300, .cache_bytes = 5 * 64});
  const Table given = table.with({.cache_bytes = 2 * 64, .cached_rows = {10, 11}});
  int number = 0;  // its address is a stream of the stand-in
  void* const stream = table_device_is_stand_in() ? &number : nullptr;
  for (int round = 0; round < 30; ++round) {
    const DeviceScatter scatter({round % 7, 10 + round % 3, round % 7},
                                {.reduction = Reduction::kAdd}, round);
    scatter.start(round % 2 == 0 ? table : small, round % 3 == 0 ? stream : nullptr);
    scatter.on(values_);
    if (round % 4 != 0) {  // some caches miss some scatters
      expect_same(small, {0, 1, 2, 10, 11, 12, 1, 2});
      const DeviceCall other(small, {0, 10, 0, 10, 11});
      other.start(small, stream);
      finish(other.plan, small, DeviceCall::queue(stream));
      EXPECT_EQ(other.result(), expected(values_, other));
    }
    expect_same(given, {10, 11, 12, 0});
  }
  EXPECT_GT(stats(small).cache_hits, 0);
}

TEST_F(ScatteredTables, OfManyRowsForgetAllThatWasCached) {
  const Table table = writable({.cache_bytes = kRows * 64});
  expect_rows(table, {1, 2, 3});
  std::vector<int64_t> ids(1 << 17);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int64_t>(i) % kRows;
  }
  const DeviceScatter scatter(ids, {.reduction = Reduction::kAdd});
  scatter.start(table);
  scatter.on(values_);
  expect_same(table, {1, 2, 3});
}

TEST_F(ScatteredTables, OfPartsOfRowsAreFollowedToo) {
  const Table table = writable({.cache_bytes = kRows * 64});
  expect_rows(table, {0, 1, 2, 3});
  const std::vector<int64_t> columns = {15, 0};
  const std::vector<int32_t> cells(static_cast<size_t>(kRows * 2), 77);
  const Plan plan =
      plan_scatter(kTable, view(columns).spec, TensorSpec(i32, {kRows, 2}), {.axis = 1});
  run_scatter(plan, table, columns.data(), cells.data(), {});
  plan.run(values_.data(), columns.data(), cells.data(), values_.data());
  expect_same(table, {0, 1, 2, 3});
}

TEST_F(ScatteredTables, RefuseBadIndicesAndWriteNothing) {
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    const Table table = writable({.piece_bytes = 100});
    const DeviceScatter scatter({1, 2, 1000, -1001}, {.rule = {.out_of_range = rule}});
    const IndexError error = index_error([&] { scatter.start(table); });
    EXPECT_EQ(error.bad_count(), 2);
    EXPECT_EQ(error.position(), Dims{2});
    finish(scatter.plan, table, DeviceCall::queue());
    EXPECT_EQ(memory_, values_);
  }
  DeviceMemory memory(table_device(), memory_.size() * 4);
  memory.upload(memory_.data(), memory.bytes());
  const Table device = Table::device_writable(table_device(), {memory.data(), kTable}, nullptr);
  const DeviceScatter scatter({1, 2, 1000});
  scatter.start(device);
  EXPECT_EQ(index_error([&] { finish(scatter.plan, device, DeviceCall::queue()); }).bad_count(), 1);
  EXPECT_EQ(index_error([&] {
              run_scatter(scatter.plan, device, scatter.ids.data(), scatter.rows.data(), {});
            }).bad_count(),
            1);
  memory.download(memory_.data(), memory.bytes());
  EXPECT_EQ(memory_, values_);
}

TEST_F(ScatteredTables, SkipWhatTheRuleSkips) {
  const Table table = writable({.piece_bytes = 100, .cache_bytes = kRows * 64});
  const DeviceScatter scatter({1, 2000, 999, -5000}, {.reduction = Reduction::kAdd,
                                                      .rule = {.out_of_range = OutOfRange::kSkip}});
  expect_rows(table, {0, 1, 999});
  scatter.start(table);
  scatter.on(values_);
  expect_same(table, {0, 1, 999});
}

TEST_F(ScatteredTables, RefuseWhatTheyCannotWrite) {
  const DeviceScatter scatter({1});
  EXPECT_EQ(
      refusal([&] { scatter.start(host()); }),
      "scatter: a table that is only read\n"
      "  its memory was handed over as constant\n"
      "  data i32[1000, 16]   indices i64[1]   updates i32[1, 16]   axis 0   output i32[1000, "
      "16]\n"
      "  try: Table::host_writable");
  const Table constant =
      Table::device(table_device(), {scatter.updates.data(), TensorSpec(i32, {1, 16})}, nullptr);
  const Plan one = plan_scatter(constant.spec(), TensorSpec(i64, {1}), TensorSpec(i32, {1, 16}));
  EXPECT_THAT(refusal([&] { run_scatter(one, constant, nullptr, nullptr, {}); }),
              HasSubstr("try: Table::device_writable"));
  EXPECT_THAT(refusal([&] {
                run_scatter(plan_gather(kTable, TensorSpec(i64, {1})), writable(), nullptr, nullptr,
                            {});
              }),
              HasSubstr("this is a gather, but it was run as a scatter into a table\n"));
  EXPECT_THAT(refusal([&] { run_scatter(one, writable(), nullptr, nullptr, {}); }),
              HasSubstr("data"));
  EXPECT_THAT(refusal([&] {
                run_scatter(scatter.plan, writable(), scatter.indices.data(), nullptr,
                            DeviceCall::queue());
              }),
              HasSubstr("updates has elements, but its pointer is null"));
  EXPECT_THAT(refusal([&] {
                run_scatter(scatter.plan, writable(), scatter.ids.data(), memory_.data(), {});
              }),
              HasSubstr("output and updates share memory"));
  EXPECT_EQ(refusal([&] {
              Table::host_writable({memory_.data(), TensorSpec(i32, {4, 4}, {2, 1})}, nullptr);
            }),
            "table: elements that share memory\n"
            "  a scatter would write to i32[4, 4] strides [2, 1] more than once\n"
            "  try: a tensor whose strides lead to each element once");
  EXPECT_THAT(refusal([&] {
                Table::device_writable("", {nullptr, TensorSpec(i32, {0})}, nullptr);
              }),
              HasSubstr("its name is empty"));
  EXPECT_EQ(memory_, values_);
}

TEST_F(ScatteredTables, AreNotEncoded) {
  const EncodedSpec spec = encoded_rows(Encoding::kRowU8F32, {4, 8});
  const Bytes bytes(static_cast<size_t>(element_count(spec.stored.sizes)));
  Encoded rows;
  rows.spec = spec;
  rows.stored = bytes.data();
  const Table table = Table::host_encoded(rows, nullptr);
  const Plan plan =
      plan_scatter(table.spec(), TensorSpec(i64, {1}), TensorSpec(u8, {1, spec.stored.sizes[1]}));
  EXPECT_THAT(
      refusal([&] { run_scatter(plan, table, nullptr, nullptr, {}); }, ErrorCode::kUnsupported),
      HasSubstr("scatter: encoded rows are only read\n"));
}

TEST_F(ScatteredTables, OfAnotherDeviceAreRefused) {
  const Table table = Table::device_writable("another", {memory_.data(), kTable}, nullptr);
  const DeviceScatter scatter({1});
  EXPECT_THAT(refusal([&] { scatter.start(table); }, ErrorCode::kUnsupported),
              HasSubstr("device: the queue runs on device " + std::string(table_device())));
}

TEST_F(ScatteredTables, ExplainTheirWay) {
  const DeviceScatter scatter({1});
  EXPECT_EQ(explain(scatter.plan, writable(), DeviceCall::queue()),
            "updates of 64 bytes, by the way \"host\"\n"
            "  host: takes the call\n"
            "  device: the table is in host memory\n"
            "  upload: the table is in host memory\n"
            "  file: the table is in host memory\n");
  const Table device = Table::device_writable(table_device(), {memory_.data(), kTable}, nullptr);
  EXPECT_EQ(table_ways(scatter.plan, device, {})[1].refusal, "the queue runs on the host");
  EXPECT_EQ(table_ways(scatter.plan, device, {})[2].refusal, "");
}

TEST_F(ScatteredTables, OfAnArrayAreItsOwn) {
  Array array(kTable);
  std::copy(memory_.begin(), memory_.end(), array.elements<int32_t>().begin());
  const Table table = Table::host(std::move(array));
  const DeviceScatter scatter({3, 3}, {.reduction = Reduction::kAdd});
  scatter.start(table);
  scatter.on(values_);
  expect_rows(table, {3, 4});
}

}  // namespace
