// SPDX-License-Identifier: MIT
//
// The ways to move the rows of a tiling, as a table. The first that can move the rows and is not
// slower than another runs; KERNEL/MOVER ("cpu.rows/copy") forces one that can.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "backends/cpu/movers/routines.h"
#include "execution/backend.h"

namespace sheaf::cpu {

struct Tiling;

struct MoverQuery {
  const Nest& nest;
  const Tiling& tiling;
  uintptr_t output;  // its address
  int threads;
  const Routines& routines = cpu::routines();
};

struct Mover {
  using Condition = const char* (*)(const MoverQuery& query);  // null if it holds, else the reason
  using Conditions = std::array<Condition, 4>;
  // What runs, by what rows are moved from. The others are null.
  struct Run {
    MoveRows Routines::*from_offsets = nullptr;
    MoveShort Routines::*from_short = nullptr;
    MoveDirect Routines::*from_indices = nullptr;
  };
  std::string_view name;
  Conditions can;   // move the rows at all
  Conditions wins;  // against the movers after it
  Run run;
  bool streams = false;  // writes around the cache
};

// The one that runs: the one asked for, which can, or the first that is worth it.
const Mover& choose_mover(const MoverQuery& query, std::string_view asked);

// What each says.
std::vector<MoverReport> mover_reports(const MoverQuery& query);

// For rows from known offsets without a tiling: streamed if rows.stream is set, else in turn or
// copied.
MoveRows rows_mover(const RowMove& rows);

// probe.cc: whether this processor's gather instructions beat loads. On many they do not (microcode
// fixes, slow units), and no feature bit says so: measured once, on first use, in some tens of
// microseconds.
bool gather_instruction_wins();

// Whether so large an output is written around the cache.
bool exceeds_cache(int64_t output_bytes);

}  // namespace sheaf::cpu
