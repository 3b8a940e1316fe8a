// SPDX-License-Identifier: MIT
#include "machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace sheaf::cli {
namespace {

// Vector widths, and the instructions that gather, permute and compress; x86-64 and Arm.
constexpr const char* kRelevant[] = {"sse4_2",  "avx",      "avx2",     "bmi2",
                                     "avx512f", "avx512bw", "avx512vl", "avx512_vbmi2",
                                     "asimd",   "sve",      "sve2"};

// The value of the first line of /proc/cpuinfo whose key is one of `keys`.
std::string cpuinfo(std::initializer_list<const char*> keys) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    const std::string key = line.substr(0, line.find_last_not_of(" \t:", colon) + 1);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      const size_t value = line.find_first_not_of(" \t", colon + 1);
      return value == std::string::npos ? "" : line.substr(value);
    }
  }
  return "";
}

int usable_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return CPU_COUNT(&allowed);
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::vector<std::string> relevant_features(const std::string& flags) {
  std::istringstream words(flags);
  const std::vector<std::string> have(std::istream_iterator<std::string>(words), {});
  std::vector<std::string> found;
  for (const char* name : kRelevant) {
    if (std::find(have.begin(), have.end(), name) != have.end()) {
      found.emplace_back(name);
    }
  }
  return found;
}

Machine this_machine() {
  utsname names{};
  uname(&names);
  return {std::string(names.sysname) + " " + names.release, names.machine,
          cpuinfo({"model name", "Model", "cpu model"}),
          relevant_features(cpuinfo({"flags", "Features"})), usable_threads()};
}

int64_t memory_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

}  // namespace sheaf::cli
