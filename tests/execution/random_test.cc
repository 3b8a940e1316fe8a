// SPDX-License-Identifier: MIT
//
// Gathers and scatters made at random, on every kernel that Plan::run knows; scatters also on 1, 2,
// 5 and all threads. helpers/random_cases.h says what is looked at.
#include <gtest/gtest.h>

#include "helpers/random_cases.h"

namespace {

class RandomGather : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomGather, Small) {
  RandomCases{run_random_gather, 8000, 600}.run_share(host(), GetParam());
}
TEST_P(RandomGather, Large) {
  RandomCases{run_random_gather, 128, 60000}.run_share(host(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, RandomGather, testing::Range(uint64_t{0}, kShares));

class RandomScatter : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomScatter, Small) {
  RandomCases{run_random_scatter, 6400, 600}.run_share(host(), GetParam());
}
TEST_P(RandomScatter, Large) {
  RandomCases{run_random_scatter, 64, 60000}.run_share(host(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, RandomScatter, testing::Range(uint64_t{0}, kShares));

}  // namespace
