// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "io/reader.h"
#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

// 4096 rows of 1 KiB: row r holds 256 times the number r.
constexpr int64_t kRows = 4096, kColumns = 256;

class FileGather : public testing::Test {
 protected:
  FileGather() {
    std::vector<int32_t> values(kRows * kColumns);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int32_t>(i / kColumns);
    }
    path_ = scratch_.write("table.bin", bytes_of(values));
  }
  Table table() const { return open_raw(path_, {i32, {kRows, kColumns}}); }

  FileStats run_rows(const std::vector<int64_t>& rows, const FileOptions& options) const {
    const Table data = table();
    const ConstTensor indices = view(rows);
    const Plan plan = plan_gather(data.spec(), indices.spec);
    Array output(plan.output());
    const FileStats stats = run(plan, data, indices, output.tensor(), options);
    const auto values = output.elements<int32_t>();
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(values[i * kColumns], rows[i]);
      EXPECT_EQ(values[i * kColumns + kColumns - 1], rows[i]);
    }
    return stats;
  }

  Scratch scratch_;
  std::string path_;
};

TEST_F(FileGather, ReadsEachBlockOnce) {
  // Rows 0 to 3 share a block; 4095 is in the last.
  const FileStats stats = run_rows({3, 0, 4095, 3, 0, 1, 2, 4095}, {});
  EXPECT_EQ(stats.blocks, 2);
  EXPECT_EQ(stats.bytes_read, 2 * 4096);
  EXPECT_EQ(stats.requests, 2);
}

TEST_F(FileGather, ReadsNeighboursTogether) {
  std::vector<int64_t> rows(64);
  std::iota(rows.begin(), rows.end(), 128);
  const FileStats stats = run_rows(rows, {});
  EXPECT_EQ(stats.blocks, 16);
  EXPECT_EQ(stats.requests, 1);
}

TEST_F(FileGather, GivesTheSameInManyWaves) {
  std::vector<int64_t> rows(8000);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<int64_t>(i * 2654435761u % kRows);
  }
  for (const int64_t memory : {int64_t{1} << 20, int64_t{1} << 26}) {
    for (const char* reader : {"pread", ""}) {
      const FileStats stats = run_rows(rows, {.memory = memory, .depth = 3, .reader = reader});
      EXPECT_LE(stats.bytes_read, kRows * kColumns * 4);
      EXPECT_EQ(stats.bytes_read, stats.blocks * 4096);
    }
  }
}

TEST_F(FileGather, ReportsProgress) {
  std::vector<int64_t> rows(static_cast<size_t>(kRows));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<int64_t> done;
  run_rows(rows, {.memory = 1 << 20, .progress = [&](int64_t bytes, int64_t total) {
                    EXPECT_EQ(total, kRows * kColumns * 4);
                    done.push_back(bytes);
                  }});
  EXPECT_GT(done.size(), 4u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), kRows * kColumns * 4);
  const auto stop = [](int64_t, int64_t) { throw std::runtime_error("stop"); };
  EXPECT_THROW(run_rows(rows, {.memory = 1 << 20, .progress = stop}), std::runtime_error);
}

TEST_F(FileGather, ServesRowsFromTheCache) {
  const Table data = table();
  const std::vector<int64_t> rows = {5, 9, 5};
  const Plan plan = plan_gather(data.spec(), TensorSpec(i64, {3}));
  Array output(plan.output());
  RowCache cache(1 << 20);
  const FileOptions options{.cache = &cache};
  const FileStats first = run(plan, data, view(rows), output.tensor(), options);
  EXPECT_EQ(first.cache_misses, 3);
  EXPECT_EQ(first.blocks, 2);
  const FileStats second = run(plan, data, view(rows), output.tensor(), options);
  EXPECT_EQ(second.cache_hits, 3);
  EXPECT_EQ(second.bytes_read, 0);
  EXPECT_EQ(output.elements<int32_t>()[kColumns], 9);
  EXPECT_EQ(cache.hits(), 3);
}

TEST_F(FileGather, ChecksIndicesBeforeItReads) {
  const Table data = table();
  std::vector<int32_t> output(2 * kColumns, -1);
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    const std::vector<int64_t> rows = {3, kRows};
    const Plan plan =
        plan_gather(data.spec(), TensorSpec(i64, {2}), {.rule = {.out_of_range = rule}});
    EXPECT_THROW(run(plan, data, view(rows), view(output, {2, kColumns})), IndexError);
  }
  EXPECT_THAT(output, testing::Each(-1));
}

TEST_F(FileGather, RefusesOtherTensorsAndOptions) {
  const Table data = table();
  const std::vector<int64_t> rows = {1};
  const Plan plan = plan_gather(data.spec(), TensorSpec(i64, {1}));
  Array output(plan.output());
  const Tensor out = output.tensor();
  EXPECT_THROW(run(plan, data, ConstTensor{nullptr, plan.indices()}, out), Error);
  EXPECT_THROW(run(plan, data, view(rows), Tensor{nullptr, plan.output()}), Error);
  EXPECT_THROW(run(plan, open_raw(path_, {i32, {kRows}}), view(rows), out), Error);
  EXPECT_THROW(run(plan, data, view(rows), out, {.memory = 100}), FileError);
  EXPECT_THROW(run(plan, data, view(rows), out, {.depth = 0}), FileError);
  EXPECT_THROW(run(plan, data, view(rows), out, {.depth = 4097}), FileError);
  EXPECT_THROW(run(plan, data, view(rows), out, {.reader = "aio"}), FileError);
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Plan other = plan_scatter(data.spec(), TensorSpec(i64, {1}), plan.output());
  EXPECT_THAT(text_of([&] { run(other, data, view(rows), out); }),
              testing::HasSubstr("not a gather\n  run() on a table moves rows out of it"));
  EXPECT_THAT(text_of([&] { run_scatter_to_file(plan, data, view(rows), out, path_); }),
              testing::HasSubstr("not a scatter\n  this is a plan of a gather"));
}

TEST_F(FileGather, ReadsInsideItsTensorOnly) {
  const Table row = open_raw(path_, {i32, {kColumns}}, 7 * kColumns * 4);
  constexpr int64_t kBytes = kColumns * 4;
  int32_t value[2] = {-1, -1};
  row.read(kBytes - 4, value, 4);
  EXPECT_THAT(value, ElementsAre(7, -1));
  row.read(kBytes, value, 0);
  for (const auto& [offset, bytes] :
       std::vector<std::pair<int64_t, int64_t>>{{-4, 4},
                                                {4, -4},
                                                {kBytes - 4, 8},
                                                {kBytes + 4, 0},
                                                {INT64_MAX, INT64_MAX},
                                                {INT64_MIN, INT64_MIN}}) {
    try {
      row.read(offset, value, bytes);
      FAIL() << offset << " " << bytes;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(),
                  testing::StartsWith("file: outside the tensor\n  " + std::to_string(bytes) +
                                      " bytes at " + std::to_string(offset) + " of 1024\n"));
    }
  }
  EXPECT_THAT(value, ElementsAre(7, -1));
}

TEST_F(FileGather, ReadsPastThePageCache) {
  try {
    const FileStats stats = run_rows({3, 4095, 77}, {.direct = true});
    EXPECT_EQ(stats.blocks, 3);
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no O_DIRECT"));  // tmpfs, for one
  }
}

TEST_F(FileGather, AllOperatorsTakeATable) {
  const Table data = open_raw(path_, {i32, {4, 3}}, 1024 * 7 - 12);  // 7 - 12: across two rows
  const Array all = data.load();
  const ConstTensor in_memory = all.tensor();
  const std::vector<int64_t> ids = {2, 0};
  const std::vector<int64_t> elements = {1, 3, 0};
  const std::vector<int32_t> tuples = {3, 2, 0, 0};
  const auto same = [](const Array& a, const Array& b) {
    EXPECT_EQ(a.spec(), b.spec());
    const auto x = a.elements<int32_t>(), y = b.elements<int32_t>();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end()));
  };
  same(gather(data, view(ids), {.axis = 1}), gather(in_memory, view(ids), {.axis = 1}));
  same(gather_elements(data, view(elements, {1, 3})),
       gather_elements(in_memory, view(elements, {1, 3})));
  same(gather_nd(data, view(tuples, {2, 2})), gather_nd(in_memory, view(tuples, {2, 2})));
  const XlaGatherOptions xla{.offset_dims = {1},
                             .collapsed_slice_dims = {0},
                             .start_index_map = {0},
                             .index_vector_dim = 1,
                             .slice_sizes = {1, 3}};
  same(xla_gather(data, view(ids), xla), xla_gather(in_memory, view(ids), xla));
}

// /proc/self/mem answers a read of unmapped memory with EIO, as a broken disk does.
TEST_F(FileGather, ReportsErrorsOfTheDisk) {
  const io::FileVersion file(path_);
  const io::Descriptor broken(open("/proc/self/mem", O_RDONLY));
  ASSERT_GE(broken.get(), 0);
  std::vector<std::byte> buffer(1 << 16);
  std::vector<io::ReadRequest> requests;
  for (int64_t i = 0; i < 64; ++i) {
    requests.push_back({i * 16, 16, buffer.data() + i * 16});
  }
  for (const auto& make : {io::make_pread_reader, io::make_uring_reader}) {
    if (const auto reader = make({file, broken.get(), 4})) {
      try {
        reader->read(requests);
        ADD_FAILURE();
      } catch (const FileError& error) {
        EXPECT_EQ(error.system_error(), EIO);
      }
    }
    if (const auto reader = make({file, file.descriptor(), 4})) {
      requests.back().offset = file.size() - 8;
      EXPECT_THROW(reader->read(requests), FileError);
      requests.back().offset = 0;
      EXPECT_NO_THROW(reader->read(requests));  // a failure leaves nothing in flight
    }
  }
}

}  // namespace
