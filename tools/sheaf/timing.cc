// SPDX-License-Identifier: MIT
#include "timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace sheaf::cli {
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
