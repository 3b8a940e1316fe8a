// SPDX-License-Identifier: MIT
//
// The cache sizes that tiles are cut by. Read once; sensible guesses where the system does not say.
#pragma once

#include <cstdint>

namespace sheaf::cpu {

inline constexpr int64_t kLine = 64;  // bytes that a processor fetches at once

struct Caches {
  int64_t l2;    // of one core
  int64_t last;  // shared
};
const Caches& caches();

}  // namespace sheaf::cpu
