// SPDX-License-Identifier: MIT
#include "tables/lockable_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "support/text.h"

namespace sheaf::tables {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The first bytes of a file, which these files do not exceed; empty if it cannot be read.
std::string text_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  std::string text(1 << 14, '\0');
  text.resize(file == nullptr ? 0 : std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

// The number that a text begins with, behind blanks; kNoLimit if there is none.
int64_t number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && number >= 0 ? number : kNoLimit;
}

// "max", and what is not there, is no limit.
int64_t limit_in(const std::string& path) { return number_in(text_of_file(path)); }

int64_t memory_of_the_machine(const std::string& root) {
  constexpr std::string_view kName = "MemTotal:";
  const std::string text = text_of_file(root + "/proc/meminfo");
  const size_t at = text.find(kName);
  const int64_t kibibytes = at == std::string::npos
                                ? kNoLimit
                                : number_in(std::string_view(text).substr(at + kName.size()));
  return kibibytes < kNoLimit / 1024 ? kibibytes * 1024 : kNoLimit;
}

// "0::/user.slice/job" of version 2, "7:memory:/job" of version 1.
std::optional<std::string> group_path(const std::string& root, const std::string& controller) {
  const std::string text = text_of_file(root + "/proc/self/cgroup");
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second != std::string::npos && line.substr(first + 1, second - first - 1) == controller) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

// Of the group and of all above it.
int64_t limit_of_groups(const std::string& folder, std::string path, const std::string& file) {
  int64_t least = limit_in(cat(folder, "/", file));
  while (!path.empty() && path != "/") {
    least = std::min(least, limit_in(cat(folder, path, "/", file)));
    path.resize(std::min(path.find_last_of('/'), path.size() - 1));
  }
  return least;
}

}  // namespace

int64_t lockable_bytes(const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup";
  const int64_t least =
      std::min({memory_of_the_machine(root),
                limit_of_groups(groups, group_path(root, "").value_or(""), "memory.max"),
                limit_of_groups(groups + "/memory", group_path(root, "memory").value_or(""),
                                "memory.limit_in_bytes")});
  return least / 10 * 9;
}

}  // namespace sheaf::tables
