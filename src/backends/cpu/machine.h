// SPDX-License-Identifier: MIT
//
// The cache sizes that tiles are cut by. Read once; sensible guesses where the system does not say.
#pragma once

#include <cstdint>

namespace sheaf::cpu {

struct Caches {
  int64_t l2;    // of one core
  int64_t last;  // shared
};
const Caches& caches();

}  // namespace sheaf::cpu
