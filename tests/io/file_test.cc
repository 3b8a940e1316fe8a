// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

TEST(File, RefusesWhatIsNoFile) {
  const Scratch scratch;
  EXPECT_THAT(error_of(scratch.path("missing.npy")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(scratch.path("")), HasSubstr("this is a folder"));
  ASSERT_EQ(mkfifo(scratch.path("fifo.npy").c_str(), 0600), 0);
  EXPECT_THAT(error_of(scratch.path("fifo.npy")), HasSubstr("this is a FIFO"));
  EXPECT_THAT(error_of("/dev/zero"), HasSubstr("this is a device"));
  EXPECT_THAT(error_of(scratch.write("x.bin", "nothing known")), HasSubstr("unknown format"));
  EXPECT_THAT(error_of(scratch.write("x.npy", "")), HasSubstr("unknown format"));
  ASSERT_EQ(symlink("loop", scratch.path("loop").c_str()), 0);
  EXPECT_THAT(error_of(scratch.path("loop")), HasSubstr("errno"));
}

TEST(File, ErrorsHaveFourLinesAndTheSystemsNumber) {
  try {
    File("/nowhere/at\nall.npy");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(),
                 "file: cannot open\n  No such file or directory (errno 2)\n"
                 "  file \"/nowhere/at?all.npy\"\n  try: another path, or create the file first");
    EXPECT_EQ(error.code(), ErrorCode::kFile);
    EXPECT_EQ(error.system_error(), ENOENT);
    EXPECT_EQ(error.path(), "/nowhere/at\nall.npy");
  }
}

TEST(File, RawNeedsTypeAndShape) {
  const Scratch scratch;
  const std::string path = scratch.write("x.bin", "skip" + bytes_of<int16_t>({1, 2, 3, 4}));
  EXPECT_THAT(open_raw(path, {i16, {2, 2}}, 4).load().elements<int16_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(open_raw(path, {i16, {2, 3}}, 4), FileError);
  EXPECT_THROW(open_raw(path, {i16, {2}}, -1), FileError);
  EXPECT_THROW(open_raw(path, {i16, {1}}, INT64_MAX), FileError);
  EXPECT_THROW(open_raw(path, {i16, {INT64_MAX / 2 + 1}}), FileError);
}

// The file behind an open table is cut short: an error, never a crash. Changes of other kinds are
// in versions_test.cc.
TEST(File, NoticesThatItWasCutShort) {
  const Scratch scratch;
  const std::string path = scratch.write("x.bin", std::string(1 << 16, 'x'));
  const Table table = open_raw(path, {u8, {1 << 16}});
  const std::vector<int64_t> last = {(1 << 16) - 1};
  EXPECT_THAT(gather(table, view(last)).elements<uint8_t>(), ElementsAre('x'));
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_THROW(gather(table, view(last)), FileError);
  EXPECT_THROW(table.load(), FileError);
}

}  // namespace
