// SPDX-License-Identifier: MIT
//
// A table much larger than memory: a sparse file of 64 GiB.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "helpers/rng.h"
#include "helpers/sanitized.h"
#include "io/scratch.h"

namespace {

using namespace sheaf;

constexpr int64_t kRowBytes = 512;
constexpr int64_t kRows = (int64_t{64} << 30) / kRowBytes;

// A line of /proc/self/status or /proc/self/io, as a number.
int64_t self(const char* file, const std::string& name) {
  std::ifstream lines(std::string("/proc/self/") + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) {
      return std::stoll(line.substr(name.size() + 1));
    }
  }
  return -1;
}

constexpr bool kSanitized = SHEAF_SANITIZED != 0;  // shadow memory is resident too

TEST(LargeFile, LooksUpRowsInLittleMemory) {
  const Scratch scratch;
  const std::string path = scratch.path("table.bin");
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  if (ftruncate(file, kRows * kRowBytes) != 0) {
    close(file);
    GTEST_SKIP() << "no sparse files of 64 GiB here";
  }
  Rng rng(7);
  std::vector<int64_t> rows(40000);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = rng.from(0, kRows - 1);
    if (i % 16 == 0) {  // some rows hold their own number; the rest is holes
      ASSERT_EQ(pwrite(file, &rows[i], sizeof rows[i], rows[i] * kRowBytes), 8);
    }
  }
  close(file);
  const Table table = open_raw(path, {i64, {kRows, kRowBytes / 8}});
  const ConstTensor indices = view(rows);
  const Plan plan = plan_gather(table.spec(), indices.spec);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
  const int64_t read_before = self("io", "rchar");
  const FileOptions options{.memory = int64_t{64} << 20};
  const FileStats stats = run_to_file(plan, table, indices, scratch.path("out.bin"), options);
  const int64_t peak_kib = self("status", "VmHWM");
  if (!kSanitized) {
    EXPECT_LT(peak_kib, 200 * 1024);
  }
  EXPECT_LE(stats.blocks, std::ssize(rows));
  EXPECT_LE(stats.bytes_read, stats.blocks * 4096 * 11 / 10);
  if (stats.reader == "pread") {  // the kernel does not count what io_uring reads
    EXPECT_LE(self("io", "rchar") - read_before, stats.blocks * 4096 * 11 / 10);
  }
  const Array output = open_raw(scratch.path("out.bin"), plan.output()).load();
  const auto values = output.elements<int64_t>();
  for (size_t i = 0; i < rows.size(); i += 16) {
    ASSERT_EQ(values[i * (kRowBytes / 8)], rows[i]);
  }
}

}  // namespace
