// SPDX-License-Identifier: MIT
//
// The machine that the program runs on, and how work on it is timed: in rounds, warm or cold,
// beside what the machine can copy at best.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sheaf::cli {

struct Machine {
  std::string system;                 // "Linux 6.1.0"
  std::string architecture;           // "x86_64", "aarch64"
  std::string cpu;                    // the model's name; empty where the system does not say
  std::vector<std::string> features;  // those of the CPU's that matter to moving data
  int threads;                        // that this process may run at once
};

Machine this_machine();

// The memory of the machine; 0 where the system does not say.
int64_t memory_bytes();

// The features that matter out of a list as /proc/cpuinfo has it, separated by spaces.
std::vector<std::string> relevant_features(const std::string& flags);

struct Timing {
  double best, median;  // seconds
  int rounds;
};

struct TimingOptions {
  double seconds = 1.0;  // go on for about this long
  int min_rounds = 5;
  bool cold = false;  // push everything out of the caches before each round
};

// Runs `work` once unmeasured, then in measured rounds.
Timing time_rounds(const TimingOptions& options, const std::function<void()>& work);

// Bytes read plus bytes written per second by a plain copy of `bytes` on `threads` threads.
double copy_rate(int64_t bytes, int threads);

}  // namespace sheaf::cli
