// SPDX-License-Identifier: MIT

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "backends/cpu/movers/movers.h"

namespace sheaf::cpu {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration best_time(MoveRows move, const RowMove& rows) {
  Clock::duration best = Clock::duration::max();
  for (int round = 0; round < kProbe.rounds; ++round) {
    const Clock::time_point start = Clock::now();
    move(rows);
    best = std::min(best, Clock::now() - start);
  }
  return best;
}

bool measure() {
  if (routines().gather == nullptr) {
    return false;
  }
  alignas(64) uint32_t table[kProbe.entries] = {};
  alignas(64) uint32_t output[kBlock];
  alignas(64) int64_t offsets[kBlock];
  for (int64_t i = 0; i < kBlock; ++i) {
    offsets[i] = (i * 677 + 13) % kProbe.entries * 4;
  }
  RowMove rows{};
  rows.data = reinterpret_cast<const std::byte*>(table);
  rows.offsets = offsets;
  rows.count = kBlock;
  rows.output = reinterpret_cast<std::byte*>(output);
  rows.output_step = 4;
  rows.row_bytes = 4;
  return best_time(routines().gather, rows) < best_time(routines().copy, rows);
}

}  // namespace

bool gather_instruction_wins() {
  static const bool wins = measure();
  return wins;
}

}  // namespace sheaf::cpu
