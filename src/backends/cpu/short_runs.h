// SPDX-License-Identifier: MIT
//
// Short runs that are moved or reduced as one: starting a run of a few points takes longer than the
// run. Where the indices of one run follow those of the one before, and so do its outputs (or a
// scatter's updates), many make one run, in which data moves as a table says.
#pragma once

#include <cstdint>
#include <memory>

#include "sheaf/plan.h"

namespace sheaf::cpu {

// How data moves along a run, apart from the index.
enum class DataMoves { kNot, kSteps, kPlaces };

// How many runs along `inner`, one for each step of `outer`, make one of at most kBlock points. 1:
// they are long, or do not follow one another.
int64_t runs_together(const Loop& outer, const Loop& inner, int64_t row_bytes);

// Where data is at each point of `runs` runs, in bytes, below 2^30 either way; a vector of zeros
// follows the last point. Null if there is no memory.
std::unique_ptr<int32_t[]> places_in_runs(const Loop& outer, const Loop& inner, int64_t runs);

}  // namespace sheaf::cpu
