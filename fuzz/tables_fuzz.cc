// SPDX-License-Identifier: MIT
//
// Tables in host memory and on a device made of it, with any ways, pieces and caches: gathers,
// scatters, bags and prefetches mixed have the bytes and the errors of plain memory.
#include "helpers/table_world.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  const std::string trouble =
      run_table_world([&](int64_t low, int64_t high) { return low + input.below(high - low + 1); });
  fuzz::require(trouble.empty(), trouble.c_str());
  return 0;
}
