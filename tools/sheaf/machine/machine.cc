// SPDX-License-Identifier: MIT
#include "machine/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
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

namespace {

using Clock = std::chrono::steady_clock;

// Larger than the last-level cache of nearly every machine, small enough to be written quickly.
constexpr int64_t kFlushBytes = int64_t{512} << 20U;

void write_all(std::vector<char>& memory) {
  static char value = 0;
  std::memset(memory.data(), ++value, memory.size());
}

// Each thread copies a contiguous part; the parts are made once, so that pages stay where they are.
void copy_parts(char* to, const char* from, int64_t bytes, int threads) {
  std::vector<std::thread> helpers;
  const int64_t part = bytes / threads;
  for (int t = 1; t < threads; ++t) {
    helpers.emplace_back(
        [=] { std::memcpy(to + t * part, from + t * part, static_cast<size_t>(part)); });
  }
  std::memcpy(to, from, static_cast<size_t>(part));
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

}  // namespace

Timing time_rounds(const TimingOptions& options, const std::function<void()>& work) {
  std::vector<char> flush(options.cold ? static_cast<size_t>(kFlushBytes) : 0);
  work();
  std::vector<double> rounds;
  // The time that flushing takes counts towards the limit: it may be a thousand times the work's.
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  while (elapsed() < options.seconds || static_cast<int>(rounds.size()) < options.min_rounds) {
    if (options.cold) {
      write_all(flush);
    }
    const Clock::time_point start = Clock::now();
    work();
    rounds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(rounds.begin(), rounds.end());
  return {rounds.front(), rounds[rounds.size() / 2], static_cast<int>(rounds.size())};
}

double copy_rate(int64_t bytes, int threads) {
  const auto size = static_cast<size_t>(bytes);
  const auto from = std::make_unique<char[]>(size);
  const auto to = std::make_unique<char[]>(size);
  std::memset(from.get(), 1, size);
  const Timing timing =
      time_rounds({.seconds = 0.3}, [&] { copy_parts(to.get(), from.get(), bytes, threads); });
  return 2.0 * static_cast<double>(bytes) / timing.best;
}

}  // namespace sheaf::cli
