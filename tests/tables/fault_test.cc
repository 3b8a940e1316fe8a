// SPDX-License-Identifier: MIT
//
// What may go wrong while a table is used: files that change in the middle of a call, calls that
// are cancelled, tables that are gone before their rows have arrived, memory that must not be
// locked. The device runs nothing before it is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "io/scratch.h"
#include "sheaf/cancel.h"
#include "tables/device_call.h"
#include "tables/lockable_memory.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Does something when a call asks for the given time whether it is cancelled: between two of its
// pieces. What it returns is the answer.
class Between {
 public:
  Between(int time, std::function<bool()> work) : time_(time), work_(std::move(work)) {}
  int asked() const { return asked_; }

 private:
  static bool ask(void* context) {
    auto& self = *static_cast<Between*>(context);
    return ++self.asked_ == self.time_ && self.work_();
  }

  int time_, asked_ = 0;
  std::function<bool()> work_;
  CancelScope scope_{Cancel{ask, this}};
};

class TableFaults : public Tables {
 protected:
  void TearDown() override { limit_pinned_memory(INT64_MAX); }

  static std::vector<int64_t> all_rows() {
    std::vector<int64_t> ids(kRows);
    std::iota(ids.rbegin(), ids.rend(), 0);
    return ids;
  }
  Table file(const std::string& path, const TableOptions& options) const {
    return open_raw(path, {i32, {kRows, kColumns}}).with(options);
  }
  std::vector<int32_t> others() const { return std::vector<int32_t>(values_.size(), -1); }

  Scratch scratch_;
};

TEST_F(TableFaults, AFileThatIsCutShortBetweenTwoPieces) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  for (const int64_t cache_bytes : {0, 1 << 12}) {
    scratch_.write("t.bin", bytes_of(values_));
    const Table table = file(path, {.piece_bytes = 1 << 10, .cache_bytes = cache_bytes});
    const DeviceCall call(table, all_rows());  // row 0 last
    const Between cut(3, [&] {
      fs::resize_file(path, 100);
      return false;
    });
    EXPECT_THROW(call.start(table), FileError);
    EXPECT_GE(cut.asked(), 3);
    wait(call.queue());
    expect_rows(host(), {1, 2});  // the stream goes on
  }
}

TEST_F(TableFaults, AFileThatIsWrittenToBetweenTwoPieces) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  const Table table = file(path, {.piece_bytes = 1 << 10});
  const DeviceCall call(table, all_rows());
  const Between written(3, [&] {
    std::fstream(path) << "other bytes";
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::hours(1));
    return false;
  });
  EXPECT_THROW(call.start(table), FileError);
  wait(call.queue());
}

// The file that was opened is still there, though another has its name.
TEST_F(TableFaults, AFileThatIsReplacedByARename) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  for (const int64_t cache_bytes : {0, 1 << 20}) {
    const Table table = file(path, {.piece_bytes = 1 << 10, .cache_bytes = cache_bytes});
    {
      const Between replaced(3, [&] {
        fs::rename(scratch_.write("new.bin", bytes_of(others())), path);
        return false;
      });
      expect_rows(table, all_rows());
      EXPECT_GE(replaced.asked(), 3);
    }
    expect_rows(table, all_rows());
    const std::vector<int64_t> ids = {3};
    const std::vector<int32_t> row(kColumns, 5);
    EXPECT_THROW(scatter(table, view(ids), view(row, {1, kColumns})), FileError);
    fs::rename(scratch_.write("new.bin", bytes_of(values_)), path);
  }
}

// By every way that takes pieces, and for each piece that it may stop before.
TEST_F(TableFaults, ACancelledCallLeavesTheStreamUsable) {
  const std::string path = scratch_.write("t.bin", bytes_of(values_));
  for (const bool in_file : {false, true}) {
    for (const int64_t cache_bytes : {0, 1 << 14}) {
      const TableOptions options{.piece_bytes = 1 << 12, .cache_bytes = cache_bytes};
      const Table table = in_file ? file(path, options) : host(options);
      for (int time = 1; time < 5; ++time) {
        const DeviceCall call(table, zipf(2000));
        {
          const Between stop(time, [] { return true; });
          std::string told;
          try {
            call.start(table);
          } catch (const Error& error) {
            told = error.what();
          }
          EXPECT_EQ(told.starts_with("gather: cancelled"), stop.asked() >= time) << told;
          EXPECT_TRUE(stop.asked() >= time || cache_bytes > 0);  // of cached rows few are fetched
        }
        expect_rows(table, zipf(2000));  // cached rows, too, are those of the table
      }
    }
  }
}

TEST_F(TableFaults, ACancelledPrefetchPromisesNothing) {
  const Table table = host({.piece_bytes = 1 << 12, .cache_bytes = kRows * 64});
  const DeviceCall call(table, all_rows());
  {
    const Between stop(2, [] { return true; });
    EXPECT_THAT(refusal([&] { prefetch(call.plan, table, call.indices.data(), call.queue()); },
                        ErrorCode::kCancelled),
                HasSubstr("cancelled"));
  }
  expect_rows(table, all_rows());
}

TEST_F(TableFaults, RowsArriveThoughTheirTableIsGone) {
  for (const std::string way : {"ring", "mapped", "split"}) {
    // Memory that is overwritten when nobody holds it any more.
    std::shared_ptr<std::vector<int32_t>> held(new std::vector<int32_t>(values_),
                                               [](std::vector<int32_t>* last) {
                                                 std::fill(last->begin(), last->end(), -1);
                                                 delete last;
                                               });
    const std::weak_ptr<std::vector<int32_t>> watch = held;
    std::optional<Table> table = Table::host(view(*held, {kRows, kColumns}), held)
                                     .with({.way = way, .piece_bytes = 1 << 12, .lock = true});
    held.reset();
    const DeviceCall call(*table, all_rows());
    call.start(*table);
    EXPECT_GT(steps_waiting(), 0) << way;
    table.reset();
    EXPECT_TRUE(watch.expired());
    wait(call.queue());
    EXPECT_EQ(call.result(), expected(values_, call)) << way;
  }
}

TEST_F(TableFaults, MoreThanTheMachineHasIsNotLocked) {
  const int64_t bytes = tables::lockable_bytes() / 9 * 10 + (int64_t{1} << 30);
  void* const memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    GTEST_SKIP() << "no such address space";
  }
  const int64_t rows = bytes / 4096;
  {
    const Table table = Table::host({memory, TensorSpec(i32, {rows, 1024})}, nullptr);
    const DeviceCall call(table, {rows - 1, 0});  // rows that the device could well read
    const Table locked = table.with({.lock = true});
    call.start(locked);
    EXPECT_EQ(stats(locked).way, "ring");
    EXPECT_THAT(explain(call.plan, locked, call.queue()),
                HasSubstr("mapped: the table's memory is not locked"));
    finish(call.plan, locked, call.queue());
    EXPECT_EQ(call.result(), std::string(call.bytes(), '\0'));
    const Table part = Table::host({memory, TensorSpec(i32, {64, 1024})}, nullptr);
    const Table small = part.with({.lock = true});
    const DeviceCall few(small, {1, 0});
    few.start(small);
    EXPECT_EQ(stats(small).way, "mapped");
    finish(few.plan, small, few.queue());
  }
  munmap(memory, static_cast<size_t>(bytes));
}

// Files as the kernel writes them, below a folder.
class LockableMemory : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  Scratch scratch_;
  const std::string root_ = scratch_.path("root");
};

TEST_F(LockableMemory, IsThatOfTheMachineOrOfItsGroups) {
  EXPECT_GT(tables::lockable_bytes(root_), INT64_MAX / 2);  // nothing is known
  write("/proc/meminfo", "MemFree: 3 kB\nMemTotal:      1000 kB\n");
  EXPECT_EQ(tables::lockable_bytes(root_), 1024000 / 10 * 9);
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  EXPECT_EQ(tables::lockable_bytes(root_), 1024000 / 10 * 9);
  write("/sys/fs/cgroup/user/memory.max", "500000\n");  // of the group above
  EXPECT_EQ(tables::lockable_bytes(root_), 450000);
  write("/sys/fs/cgroup/memory.max", "40000\n");  // of the container
  EXPECT_EQ(tables::lockable_bytes(root_), 36000);
  write("/proc/self/cgroup", "4:cpu,memory:/other\n3:memory:/job\nrubbish\n0::\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000\n");
  EXPECT_EQ(tables::lockable_bytes(root_), 1800);
  write("/proc/meminfo", "MemTotal: many\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "-1\n");
  EXPECT_EQ(tables::lockable_bytes(root_), 36000);
}

TEST_F(LockableMemory, OfThisMachineIsKnown) {
  EXPECT_GT(tables::lockable_bytes(), 1 << 20);
  EXPECT_LT(tables::lockable_bytes(), INT64_MAX / 2);
}

}  // namespace
