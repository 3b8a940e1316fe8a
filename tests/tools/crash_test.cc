// SPDX-License-Identifier: MIT
//
// The program is killed at a hundred random moments: under a file's name there is the old content
// or the new one, whole, and nothing is left beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "helpers/rng.h"
#include "io/scratch.h"
#include "program.h"

extern char** environ;

namespace {

using namespace sheaf;

constexpr int64_t kRows = 4096, kColumns = 64;
constexpr int kRounds = 100;

pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(SHEAF_PROGRAM)};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, SHEAF_PROGRAM, nullptr, nullptr, words.data(), environ), 0);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool has_open(pid_t process, const std::string& path) {
  const std::string folder = "/proc/" + std::to_string(process) + "/fd";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::filesystem::read_symlink(entry, error) == path) {
      return true;
    }
  }
  return false;
}

class Crash : public testing::Test {
 protected:
  Crash() {
    std::vector<float> values(kRows * kColumns);
    std::iota(values.begin(), values.end(), 0.0f);
    std::vector<int64_t> rows(kRows);
    std::iota(rows.rbegin(), rows.rend(), 0);
    save(path("table.npy"), "", view(values, {kRows, kColumns}));
    save(path("rows.npy"), "", view(rows));
    for (float& value : values) {
      value = -value;
    }
    save(path("updates.npy"), "", view(values, {kRows, kColumns}));
  }

  std::string path(const std::string& name) const { return scratch_.path(name); }

  // Runs the command to its end, for the new content and the time it takes; then kills it over and
  // over. `target` is what it writes; `old` is put back each time, and empty if there is no file.
  void kill_often(const std::vector<std::string>& command, const std::string& target,
                  const std::string& old) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(wait_for(start(command)), 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    const int64_t most_us =
        std::chrono::duration_cast<std::chrono::microseconds>(took).count() * 5 / 4;
    const std::string fresh = read_all(target);
    ASSERT_NE(fresh, old);
    Rng rng(5);
    int killed = 0;
    for (int round = 0; round < kRounds; ++round) {
      old.empty() ? (void)unlink(target.c_str()) : (void)(std::ofstream(target) << old);
      const pid_t child = start(command);
      usleep(static_cast<useconds_t>(rng.from(0, most_us)));
      kill(child, SIGKILL);
      killed += WIFSIGNALED(wait_for(child)) ? 1 : 0;
      const std::string now = read_all(target);
      ASSERT_TRUE(now == old || now == fresh) << "round " << round << ": " << now.size();
    }
    EXPECT_GT(killed, 0);
    // A kill between linking and renaming may leave a hidden name; what it names is whole.
    for (const std::string& name : scratch_.names()) {
      if (name.starts_with(".sheaf-")) {
        EXPECT_EQ(read_all(path(name)), fresh) << name;
      }
    }
  }

  Scratch scratch_;
};

TEST_F(Crash, AScatterInPlace) {
  kill_often({"scatter", path("table.npy"), path("rows.npy"), path("updates.npy"), "--in-place",
              "--quiet"},
             path("table.npy"), read_all(path("table.npy")));
}

TEST_F(Crash, ANewOutput) {
  kill_often({"gather", path("table.npy"), path("rows.npy"), "-o", path("out.npy"), "--quiet"},
             path("out.npy"), "");
}

TEST_F(Crash, AnInterruptLeavesNothing) {
  // Standard input stays open: the program waits for indices, with its handler in place.
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  const std::string table = path("table.npy"), out = path("out.npy");
  std::vector<const char*> words = {SHEAF_PROGRAM, "gather",    table.c_str(), "-",
                                    "-o",          out.c_str(), nullptr};
  pid_t child = -1;
  ASSERT_EQ(posix_spawn(&child, SHEAF_PROGRAM, &actions, nullptr,
                        const_cast<char* const*>(words.data()), environ),
            0);
  posix_spawn_file_actions_destroy(&actions);
  // The handler is in place before the table is opened, and that is before indices are read.
  for (int i = 0; i < 1000 && !has_open(child, table); ++i) {
    usleep(10000);
  }
  kill(child, SIGINT);
  const int status = wait_for(child);
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(scratch_.names().size(), 3u);
}

}  // namespace
