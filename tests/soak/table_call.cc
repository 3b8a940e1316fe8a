// SPDX-License-Identifier: MIT
#include <cstdio>

#include "calls.h"
#include "helpers/table_world.h"

int table_call(Rng& rng) {
  const std::string trouble =
      run_table_world([&](int64_t low, int64_t high) { return rng.from(low, high); });
  if (!trouble.empty()) {
    std::fprintf(stderr, "soak: %s", trouble.c_str());
    return -1;
  }
  return 6;
}
