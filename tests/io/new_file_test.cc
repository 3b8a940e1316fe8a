// SPDX-License-Identifier: MIT
#include "io/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace sheaf;

TEST(NewFile, AppearsWhenItIsComplete) {
  const Scratch scratch;
  const std::string path = scratch.write("a", "old");
  {
    io::NewFile file(path);
    file.resize(3);
    file.write(0, "new", 3);
    EXPECT_EQ(read_all(path), "old");
    file.commit();
    EXPECT_EQ(read_all(path), "new");
  }
  EXPECT_THAT(scratch.names(), ElementsAre("a"));
}

TEST(NewFile, LeavesNothingBehind) {
  const Scratch scratch;
  {
    io::NewFile file(scratch.path("a"));
    file.resize(1 << 20);
  }
  EXPECT_THAT(scratch.names(), IsEmpty());
}

TEST(NewFile, KeepsPermissionsAndLinks) {
  const Scratch scratch;
  const std::string path = scratch.write("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(symlink("a", scratch.path("link").c_str()), 0);
  io::NewFile file(scratch.path("link"));
  file.write(0, "new", 3);
  file.commit();
  EXPECT_EQ(read_all(path), "new");
  struct stat status = {};
  ASSERT_EQ(lstat(scratch.path("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(NewFile, RefusesPlacesThatCannotHoldIt) {
  const Scratch scratch;
  EXPECT_THROW(io::NewFile(scratch.path("missing/a")), FileError);
  EXPECT_THROW(io::NewFile(scratch.path("")), FileError);
  ASSERT_EQ(mkfifo(scratch.path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(io::NewFile(scratch.path("fifo")), FileError);
}

// A limit on file sizes stands for a full disk.
TEST(NewFile, AFullDiskLeavesTheOldFile) {
  const Scratch scratch;
  const std::string path = scratch.write("a.npy", "old");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<float> values(1 << 16);
  int system_error = 0;
  try {
    save(path, "a", view(values));
  } catch (const FileError& error) {
    system_error = error.system_error();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(system_error, EFBIG);
  EXPECT_EQ(read_all(path), "old");
  EXPECT_THAT(scratch.names(), ElementsAre("a.npy"));
}

TEST(NewFile, CopiesAFile) {
  const Scratch scratch;
  const std::string content(300000, 'c');
  const std::string from = scratch.write("from", content);
  io::NewFile file(scratch.path("to"));
  file.copy_of(io::FileVersion(from));
  file.commit();
  EXPECT_EQ(read_all(scratch.path("to")), content);
}

}  // namespace
