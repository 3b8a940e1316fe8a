// SPDX-License-Identifier: MIT
//
// Gathers and scatters made at random, with data wherever a table may lie, against the oracle bit
// for bit: every operator, index rule, type, layout and way.
#include <gtest/gtest.h>

#include <cstdlib>

#include "helpers/random_cases.h"
#include "tables/table_device.h"
#include "tables/table_machine.h"

namespace {

class RandomTables : public TableTest, public testing::WithParamInterface<uint64_t> {};

// Devices that compile a shader for each kind of plan, and wait for each piece, are tested with
// fewer: as with SHEAF_TEST_CASES=160, unless that is set.
uint64_t cases(uint64_t count) {
  if (table_device_is_stand_in()) {
    return count;
  }
  return std::getenv("SHEAF_TEST_CASES") == nullptr ? 8 * count / 50 : 8 * count;
}

TEST_P(RandomTables, SmallGathers) {
  RandomCases{run_random_gather, cases(240), 600}.run_share(table_machine(), GetParam());
}
TEST_P(RandomTables, LargeGathers) {
  RandomCases{run_random_gather, cases(16), 20000}.run_share(table_machine(), GetParam());
}

TEST_P(RandomTables, SmallScatters) {
  RandomCases{run_random_scatter, cases(240), 600}.run_share(table_machine(), GetParam());
}
TEST_P(RandomTables, LargeScatters) {
  RandomCases{run_random_scatter, cases(16), 20000}.run_share(table_machine(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, RandomTables, testing::Range(uint64_t{0}, kShares));

}  // namespace
