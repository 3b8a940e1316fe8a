// SPDX-License-Identifier: MIT
//
// Where the rows of consecutive points of a nest are, by several threads.
#pragma once

#include <cstdint>
#include <span>

#include "sheaf/plan.h"

namespace sheaf::tables {

// For each point from number `first` on, the byte of the table where its row begins, or kOutside.
// Returns whether there is one of those. On at most `threads` threads; 0: as many as pay.
bool resolve_points(const Nest& nest, const std::byte* indices, int64_t first,
                    std::span<int64_t> offsets, int threads);

}  // namespace sheaf::tables
