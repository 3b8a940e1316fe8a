// SPDX-License-Identifier: MIT
//
// What a backend has for bags: an ordered table of kernels, as for gathers and scatters.
#pragma once

#include <string_view>

#include "execution/checks.h"
#include "plan/bag.h"

namespace sheaf {

struct Launch;

// What a device found wrong with segments, at the head of its workspace. In parts, one for each
// block that looks at them, so that nothing has to be zeroed before.
inline constexpr int kSegmentParts = 64;
struct SegmentFaults {
  unsigned long long not_first[kSegmentParts];  // ~(number of the first bad segment); 0: none
  // Of that segment. Where lengths add up to less than there are entries, segment `segments` is
  // bad, and this is what they add up to.
  int64_t value[kSegmentParts];
};

struct BagBuffers {
  EncodedMemory data;
  const std::byte* indices;
  const std::byte* weights;
  // Where each bag begins, and behind them where the last one ends: the run's own, ascending and
  // within the entries. Null where every bag has nest.per_bag entries, and on a device, where the
  // kernel makes them in its workspace and writes no output if it finds faults.
  const int64_t* offsets;
  std::byte* output;
  const std::byte* segments = nullptr;  // device
  SegmentFaults* faults = nullptr;      // device; null where every bag has nest.per_bag entries
};

enum class BagEnd {
  kDone,
  kNoMemory,  // nothing was written
  kBadIndex,  // with Launch::check_while_moving: an index was out of range
};

struct BagKernel {
  std::string_view name;
  // Why this kernel cannot run the bag, or is not worth it; null if it can.
  const char* (*refusal)(const BagNest& nest);
  // Runs a bag that has output. Never leaves the table, whatever the indices are or become while it
  // runs, unless the rule is kTrust.
  BagEnd (*run)(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);
  Checks checks = Checks::kNever;  // kNever or kWhileMoving
  // Bytes of Launch::workspace that it wants on a device; null: none.
  size_t (*workspace_bytes)(const BagNest& nest) = nullptr;
};

}  // namespace sheaf
