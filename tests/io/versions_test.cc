// SPDX-License-Identifier: MIT
//
// A file has versions: scatters in place follow one another, whoever makes them, and none is lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "io/scratch.h"
#include "sheaf/cancel.h"

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

const std::vector<int64_t> kFirst = {0}, kSecond = {1};
const ScatterOptions kAdd{.reduction = Reduction::kAdd};

void add_to(const Table& table, const std::vector<int64_t>& rows, float value) {
  const std::vector<float> updates = {value};
  scatter(table, view(rows), view(updates), kAdd);
}

template <class F>
std::string text_of(F call) {
  try {
    call();
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

// tests/io writes .npy by the library under test; its bytes are held against NumPy elsewhere.
std::string zeros(const Scratch& scratch, const std::string& name, size_t count = 2) {
  const std::vector<float> values(count);
  save(scratch.path(name), "t", view(values));
  return scratch.path(name);
}

std::vector<float> content_of(const std::string& path, const std::string& name = "") {
  const Array array = open_table(path, name).load();
  const auto values = array.elements<float>();
  return {values.begin(), values.end()};
}

TEST(Versions, AHandleFollowsItsOwnScatters) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  const Table table = open_table(path);
  RowCache cache(1 << 16);
  for (int i = 1; i <= 4; ++i) {
    add_to(table, kFirst, 1);
    add_to(table, kSecond, 10);
    const auto n = static_cast<float>(i);
    EXPECT_THAT(content_of(path), ElementsAre(n, 10 * n));
    const Array row = gather(table, view(kSecond), {}, {.cache = &cache});
    EXPECT_THAT(std::vector<float>(1, row.elements<float>()[0]), ElementsAre(10 * n));
  }
  EXPECT_THAT(scratch.names(), ElementsAre("t.npy"));
}

TEST(Versions, OtherTensorsOfTheFileStay) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::string path = scratch.path("two.safetensors");
  const Table zero = open_table(zeros(scratch, "t.npy"));
  save(path, {{"a", zero}, {"b", zero}});
  const File file(path);
  const Table a = file.table("a"), b = file.table("b");
  add_to(a, kFirst, 1);
  add_to(b, kFirst, 2);
  add_to(a, kSecond, 3);
  EXPECT_THAT(content_of(path, "a"), ElementsAre(1, 3));
  EXPECT_THAT(content_of(path, "b"), ElementsAre(2, 0));
  const Array followed = file.table("b").load();
  EXPECT_EQ(followed.elements<float>()[0], 2);
}

TEST(Versions, RawFilesKeepHeadAndTail) {
  const Scratch scratch;
  const std::string path =
      scratch.write("t.bin", "head" + bytes_of<float>({1, 2}) + std::string("tail"));
  const Table table = open_raw(path, {f32, {2}}, 4);
  add_to(table, kFirst, 1);
  add_to(table, kSecond, 1);
  EXPECT_EQ(read_all(path), "head" + bytes_of<float>({2, 3}) + "tail");
}

TEST(Versions, AReplacedFileIsNotReplacedAgainFromTheOldOne) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  const Table old = open_table(path), other = open_table(path);
  add_to(other, kFirst, 7);
  // Who has the old file open still sees it, whole, but cannot write it back.
  EXPECT_EQ(old.load().elements<float>()[0], 0);
  const std::string wanted =
      "file: replaced since it was opened\n  another file has its name now\n  file \"" + path +
      "\"\n  try: open it again, so that what others wrote is not lost";
  EXPECT_EQ(text_of([&] { add_to(old, kSecond, 1); }), wanted);
  const Plan plan = plan_scatter(old.spec(), {i64, {1}}, {f32, {1}});
  const std::vector<float> one = {1};
  ASSERT_EQ(symlink("t.npy", scratch.path("link").c_str()), 0);
  for (const std::string& name : {path, scratch.path("link"), scratch.path("./t.npy")}) {
    EXPECT_EQ(text_of([&] { run_scatter_to_file(plan, old, view(kFirst), view(one), name); }),
              wanted);
  }
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_THAT(text_of([&] { add_to(old, kSecond, 1); }), HasSubstr("no file has its name now"));
  EXPECT_THAT(scratch.names(), ElementsAre("link"));
}

TEST(Versions, AChangedFileIsNotReplaced) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  const Table table = open_table(path);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the file's clock
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(pwrite(descriptor, "\1", 1, 128), 1);  // as many bytes as before
  close(descriptor);
  const std::string text = text_of([&] { add_to(table, kFirst, 1); });
  EXPECT_THAT(text, HasSubstr("changed since it was opened\n  it had 136 bytes and has 136 now; "
                              "its time of modification differs"));
  EXPECT_THAT(text_of([&] { gather(table, view(kFirst)); }), HasSubstr("changed since"));
  try {
    add_to(table, kFirst, 1);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_EQ(error.system_error(), ESTALE);
  }
}

// A program that sets the time back is found out by the size.
TEST(Versions, AnotherSizeIsNoticedWhateverTheTime) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", std::string(100, 'x'));
  const Table table = open_raw(path, {u8, {50}});
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  ASSERT_EQ(truncate(path.c_str(), 90), 0);
  const timespec times[] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_THAT(text_of([&] { gather(table, view(kFirst)); }),
              HasSubstr("it had 100 bytes and has 90 now"));
}

TEST(Versions, ThreadsOnOneHandleWaitForEachOther) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  const Table table = open_table(path);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          add_to(table, kFirst, 1);
        }
      });
    }
  }
  EXPECT_THAT(content_of(path), ElementsAre(40, 0));
}

// Each process opens the file, and opens it again when another was faster.
TEST(Versions, ProcessesWaitOrAreRefused) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  std::vector<pid_t> children;
  for (int c = 0; c < 3; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      for (int done = 0; done < 10;) {
        try {
          add_to(open_table(path), kFirst, 1);
          ++done;
        } catch (const FileError& error) {
          if (error.system_error() != ESTALE) {
            _exit(1);
          }
        }
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(content_of(path), ElementsAre(30, 0));
}

TEST(Versions, WaitingCanBeCancelled) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  const int holder = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(holder, LOCK_EX), 0);
  int asked = 0;
  const auto cancelled_at_third = [&] {
    const CancelScope scope(
        Cancel{[](void* count) { return ++*static_cast<int*>(count) > 2; }, &asked});
    add_to(open_table(path), kFirst, 1);
  };
  try {
    cancelled_at_third();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  close(holder);
  EXPECT_THAT(content_of(path), ElementsAre(0, 0));
}

TEST(Versions, HardLinksAreNotTornApart) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  ASSERT_EQ(link(path.c_str(), scratch.path("twin.npy").c_str()), 0);
  EXPECT_THAT(text_of([&] { add_to(open_table(path), kFirst, 1); }),
              HasSubstr("has other names\n  it has 2 hard links; replacing it would leave the old "
                        "content under the others"));
  EXPECT_THAT(content_of(path), ElementsAre(0, 0));
}

TEST(Versions, PermissionsOwnerAndAttributesStay) {
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  const bool has_attributes = setxattr(path.c_str(), "user.sheaf", "x", 1, 0) == 0;
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(chown(path.c_str(), 1234, 2345), 0);
  }
  add_to(open_table(path), kFirst, 1);
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  if (is_root) {
    EXPECT_EQ(status.st_uid, 1234u);
    EXPECT_EQ(status.st_gid, 2345u);
  }
  char value = 0;
  if (has_attributes) {
    EXPECT_EQ(getxattr(path.c_str(), "user.sheaf", &value, 1), 1);
    EXPECT_EQ(value, 'x');
  }
}

TEST(Versions, AnOwnerThatCannotBeKeptIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can make a file of another user";
  }
  const Scratch scratch;
  const std::string path = zeros(scratch, "t.npy");
  ASSERT_EQ(chown(path.c_str(), 1234, 2345), 0);
  ASSERT_EQ(chmod(scratch.path("").c_str(), 0777), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(4321) != 0 || setuid(4321) != 0) {
      _exit(1);
    }
    const std::string text = text_of([&] { add_to(open_table(path), kFirst, 1); });
    _exit(text.find("its owner cannot be kept\n  it belongs to user 1234 and group 2345; a file of "
                    "user 4321 and group 4321 would take its place") == std::string::npos);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(content_of(path), ElementsAre(0, 0));
}

TEST(Versions, NewFilesFollowTheUmask) {
  const Scratch scratch;
  const mode_t before = umask(027);
  const std::string path = zeros(scratch, "t.npy");
  umask(before);
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

// Holes stay holes: the copy of a sparse file takes no more room than the file.
TEST(Versions, SparseFilesStaySparse) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", "");
  constexpr int64_t kBytes = int64_t{1} << 36;
  ASSERT_EQ(truncate(path.c_str(), kBytes), 0);
  const Table table = open_raw(path, {f32, {kBytes / 4}});
  const std::vector<int64_t> far = {kBytes / 8};
  const std::vector<float> updates = {3};
  scatter(table, view(far), view(updates), kAdd);
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, kBytes);
  EXPECT_LT(status.st_blocks, 1024);
  const Array row = gather(table, view(far));
  EXPECT_EQ(row.elements<float>()[0], 3);
}

// A byte here and there of a very large file: what a call costs follows from the rows.
TEST(Versions, RowsOfAVeryLargeFileAreFoundAtOnce) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", "");
  int64_t bytes = int64_t{1} << 50;
  while (truncate(path.c_str(), bytes) != 0 && bytes > 0) {
    bytes /= 2;  // ext4 ends at 16 TiB
  }
  const Table table = open_raw(path, {u8, {bytes}});
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 1000; ++i) {
    rows.push_back(bytes / 1000 * i);
  }
  FileStats stats;
  const Plan plan = plan_gather(table.spec(), {i64, {1000}});
  Array output(plan.output());
  stats = run(plan, table, view(rows), output.tensor());
  EXPECT_EQ(stats.blocks, 1000);
  EXPECT_THAT(
      std::vector<uint8_t>(output.elements<uint8_t>().begin(), output.elements<uint8_t>().end()),
      Each(0));
}

}  // namespace
