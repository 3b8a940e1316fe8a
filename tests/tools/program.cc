// SPDX-License-Identifier: MIT
#include "program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/text.h"

namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// CTest runs the cases of one program side by side.
std::string temporary_path(const std::string& name) {
  return sheaf::cat(testing::TempDir(), "sheaf_", getpid(), "_", name);
}

// LeakSanitizer takes three seconds per process on arm64, and these tests start hundreds. The tests
// of the library look for leaks themselves.
#if defined(__aarch64__)
[[maybe_unused]] const int no_leak_check = [] {
  const char* options = std::getenv("ASAN_OPTIONS");
  return setenv("ASAN_OPTIONS", sheaf::cat(options ? options : "", ":detect_leaks=0").c_str(), 1);
}();
#endif

}  // namespace

Finished run_sheaf(const std::vector<std::string>& arguments, const std::string& environment,
                   const std::string& input) {
  const std::string out = temporary_path("out");
  const std::string err = temporary_path("err");
  std::string command =
      sheaf::cat("unset NO_COLOR SHEAF_KERNEL COLUMNS; ", environment, " ", quoted(SHEAF_PROGRAM));
  for (const std::string& argument : arguments) {
    command += sheaf::cat(" ", quoted(argument));
  }
  command += sheaf::cat(" <", quoted(input), " >", quoted(out), " 2>", quoted(err));
  const int status = std::system(command.c_str());
  Finished run{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
  unlink(out.c_str());
  unlink(err.c_str());
  return run;
}

std::string temporary_file(const std::string& name, const std::string& content) {
  const std::string path = temporary_path(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}
