// SPDX-License-Identifier: MIT
//
// Gathers made at random, with data wherever a table may lie, against the oracle bit for bit: every
// operator, index rule, type, layout and way.
#include <gtest/gtest.h>

#include "helpers/random_cases.h"
#include "tables/table_device.h"
#include "tables/table_machine.h"

namespace {

class RandomTables : public TableTest, public testing::WithParamInterface<uint64_t> {};

// Devices that compile a shader for each kind of plan are tested with fewer: SHEAF_TEST_CASES.
uint64_t cases(uint64_t count) { return table_device_stages() ? count : 8 * count; }

TEST_P(RandomTables, SmallGathers) {
  RandomCases{run_random_gather, cases(240), 600}.run_share(table_machine(), GetParam());
}
TEST_P(RandomTables, LargeGathers) {
  RandomCases{run_random_gather, cases(16), 20000}.run_share(table_machine(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, RandomTables, testing::Range(uint64_t{0}, kShares));

}  // namespace
