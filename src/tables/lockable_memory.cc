// SPDX-License-Identifier: MIT
#include "tables/lockable_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace sheaf::tables {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The first word of a file; "max", and what is not there, is no limit.
int64_t limit_in(const std::string& path) {
  std::ifstream file(path);
  int64_t bytes = 0;
  return file >> bytes && bytes >= 0 ? bytes : kNoLimit;
}

int64_t memory_of_the_machine(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemTotal:" && kibibytes < kNoLimit / 1024) {
      return kibibytes * 1024;
    }
  }
  return kNoLimit;
}

// "0::/user.slice/job" of version 2, "7:memory:/job" of version 1.
std::optional<std::string> group_path(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
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
  int64_t least = limit_in(folder + "/" + file);
  while (!path.empty() && path != "/") {
    least = std::min(least, limit_in(folder + path + "/" + file));
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
