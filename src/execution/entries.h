// SPDX-License-Identifier: MIT
//
// A plan taken apart, to be run piecewise (on shards, or on rows fetched from a file):
// first every index becomes the entry it names, then the same operator runs on entries. What an
// index means and where an entry lies are decided apart.
#pragma once

#include <cstdint>

#include "sheaf/plan.h"

namespace sheaf {

inline constexpr int64_t kNoEntry = -1;  // a filled or skipped index

// The entry of each element of `indices` (host memory), row-major in the order of their tensor:
// values of [0, entries of its axis), or kNoEntry under kFill and kSkip. Throws IndexError under
// kFail. Under kTrust the values are what the caller promised.
void resolve_entries(const Plan& plan, const void* indices, int64_t* entries);

// The plan that reads entries, int64 and row-major, in place of indices, and does the same with
// them. `axis_entries` is the number of entries that data has on the axis of the first coordinate
// (less than in `plan` for a part of data, whose entries the caller counts from 0); the other sizes
// and all strides are those of `plan`.
Plan entry_plan(const Plan& plan, int64_t axis_entries);

}  // namespace sheaf
