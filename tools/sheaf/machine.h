// SPDX-License-Identifier: MIT
//
// The machine that the program runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf::cli {

struct Machine {
  std::string system;                 // "Linux 6.1.0"
  std::string architecture;           // "x86_64", "aarch64"
  std::string cpu;                    // the model's name; empty where the system does not tell
  std::vector<std::string> features;  // those of the CPU's that matter to moving data
  int threads;                        // that this process may run at once
};

Machine this_machine();

// The memory of the machine; 0 where the system does not tell.
int64_t memory_bytes();

// The features that matter out of a list as /proc/cpuinfo has it, separated by spaces.
std::vector<std::string> relevant_features(const std::string& flags);

}  // namespace sheaf::cli
