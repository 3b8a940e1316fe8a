// SPDX-License-Identifier: MIT
#include "backends/cpu/probe.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "backends/cpu/routines.h"

namespace sheaf::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTable = 1024;  // 4 KiB: first-level cache, where the instruction counts most
constexpr int kRounds = 16;

// The best of a few rounds: an interrupt must not decide.
Clock::duration best_time(const RowMove& rows) {
  Clock::duration best = Clock::duration::max();
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    routines().move(rows);
    best = std::min(best, Clock::now() - start);
  }
  return best;
}

bool measure() {
  if (!routines().has_gather_instruction) {
    return false;
  }
  alignas(64) uint32_t table[kTable] = {};
  alignas(64) uint32_t output[kBlock];
  alignas(64) int64_t offsets[kBlock];
  for (int64_t i = 0; i < kBlock; ++i) {
    offsets[i] = (i * 677 + 13) % kTable * 4;
  }
  RowMove rows{};
  rows.data = reinterpret_cast<const std::byte*>(table);
  rows.offsets = offsets;
  rows.count = kBlock;
  rows.output = reinterpret_cast<std::byte*>(output);
  rows.output_step = 4;
  rows.row_bytes = 4;
  const Clock::duration plain = best_time(rows);
  rows.hardware_gather = true;
  return best_time(rows) < plain;
}

}  // namespace

bool gather_instruction_wins() {
  static const bool wins = measure();
  return wins;
}

}  // namespace sheaf::cpu
