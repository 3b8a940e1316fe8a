// SPDX-License-Identifier: MIT
//
// Measuring: rounds of work, warm or cold, and what the machine can copy at best.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sheaf::cli {

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
