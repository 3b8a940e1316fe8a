// SPDX-License-Identifier: MIT
//
// The random problems of tests/backends/random_test.cc on a device.
#include <gtest/gtest.h>

#include "helpers/device.h"
#include "helpers/random_cases.h"

namespace {

class DeviceRandom : public DeviceTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(DeviceRandom, SmallGathers) {
  RandomCases{run_random_gather, 8000, 600}.run_share(gpu(), GetParam());
}
TEST_P(DeviceRandom, LargeGathers) {
  RandomCases{run_random_gather, 256, 60000}.run_share(gpu(), GetParam());
}
TEST_P(DeviceRandom, SmallScatters) {
  RandomCases{run_random_scatter, 8000, 600}.run_share(gpu(), GetParam());
}
TEST_P(DeviceRandom, LargeScatters) {
  RandomCases{run_random_scatter, 256, 60000}.run_share(gpu(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, DeviceRandom, testing::Range(uint64_t{0}, kShares));

}  // namespace
