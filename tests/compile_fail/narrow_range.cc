// SPDX-License-Identifier: MIT
//
// CVE-2020-15202: work that takes int was given ranges of more than 2^31 elements.
#include "backends/cpu/parallel.h"

void run() {
  sheaf::cpu::parallel_ranges(int64_t{1} << 40, {1, false}, [](int, int) {});
}
