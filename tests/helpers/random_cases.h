// SPDX-License-Identifier: MIT
//
// Problems made at random, run on every kernel of a machine, against the oracle, bit for bit. Each
// tensor lies between two pages that may not be touched and ends at one of them; the inputs may not
// be written; gaps between the elements of the output have to stay as they were. One scatter in
// three is in place.
//
// SHEAF_TEST_CASES sets how many, SHEAF_TEST_SEED runs a single one.
#pragma once

#include <cstdint>

#include "helpers/machine.h"

// One problem; false if it does not fit into the memory at hand.
bool run_random_gather(const Machine& machine, uint64_t seed, int64_t most_elements);
bool run_random_scatter(const Machine& machine, uint64_t seed, int64_t most_elements);

// Each suite is cut into so many tests: ctest spreads them over the cores.
inline constexpr uint64_t kShares = 8;

struct RandomCases {
  bool (*run)(const Machine& machine, uint64_t seed, int64_t most_elements);
  uint64_t count;         // in all shares together, unless the environment sets it
  int64_t most_elements;  // of the output, or of the updates

  void run_share(const Machine& machine, uint64_t share) const;
};
