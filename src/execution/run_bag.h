// SPDX-License-Identifier: MIT
//
// What the drivers of bags on the host (run_bag.cc) and on a device (run_bag_device.cc) share.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "execution/backend.h"
#include "sheaf/bag.h"

namespace sheaf {

struct BagChoice {
  const Backend* backend = nullptr;
  const BagKernel* kernel = nullptr;
};

// The first kernel that accepts, of those that are asked for. Throws if there is none.
BagChoice choose_bag(const BagPlan& plan, std::span<const Backend* const> backends,
                     std::string_view asked);

// Where bags begin, and behind them where the last one ends: the segments, each read once, as
// offsets of the run's own. Null where every bag has as many entries, and unless they are to be
// kept: then the segments are only checked. Throws on segments that do not fit.
std::unique_ptr<int64_t[]> bag_offsets(const BagPlan& plan, const void* segments, bool keep);

// How the kernel takes part in checking this bag's indices. Entries behind the last offset are in
// no bag, but their indices are checked like the others.
Checks bag_checks(const BagNest& nest, const BagKernel& kernel);

// For the first segment that does not fit. Where lengths add up to something else than the entries,
// that is the one behind the last, and the value is their sum.
[[noreturn]] void refuse_segment(const BagPlan& plan, int64_t at, int64_t value);

// The workspace of a bag on a device: the verdict on the indices, where the rule is kFail, what the
// check of the segments found, and what the kernel wants; null: no kernel.
struct BagLayout {
  size_t faults = 0, kernel = 0, bytes = 0;
};
BagLayout bag_layout(const BagPlan& plan, const BagKernel* kernel);

void start_bag_on_device(const BagPlan& plan, const BagMemory& memory, const Queue& queue,
                         const RunOptions& options);

}  // namespace sheaf
