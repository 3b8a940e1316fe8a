// SPDX-License-Identifier: MIT
//
// What the check of all indices found, in device memory at the head of a workspace. Kernels that
// come after it write nothing if there is a bad index.
#pragma once

#include <cstdint>

namespace sheaf::cuda {

// All zeros: nothing found yet.
struct Verdict {
  unsigned long long bad;        // how many
  unsigned long long not_first;  // ~(row-major number of the first): the largest wins
  unsigned long long value;      // the first one's bits, as int64
  unsigned int blocks_done;      // of the check
  unsigned int padding;
};

}  // namespace sheaf::cuda
