// SPDX-License-Identifier: MIT
//
// The ends of the range of sizes, strides and offsets.
#pragma once

#include <cstdint>
#include <limits>

namespace sheaf {

inline constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

}  // namespace sheaf
