// SPDX-License-Identifier: MIT
//
// Every small problem of tests/backends/exhaustive_*_test.cc on a device: all shapes and rules, and
// of the fillings of the indices one in 13 (SHEAF_TEST_ONE_IN=1 runs all).
#include <gtest/gtest.h>

#include "helpers/device.h"
#include "helpers/exhaustive.h"

namespace {

class DeviceExhaustive : public DeviceTest, public testing::WithParamInterface<int64_t> {};

TEST_P(DeviceExhaustive, Gather) { check_every_gather(gpu(), GetParam(), false); }
TEST_P(DeviceExhaustive, GatherElements) {
  check_every_gather_elements(gpu(), GetParam(), false, GetParam() == 3 ? 1 : 2);
}
TEST_P(DeviceExhaustive, GatherNd) {
  check_every_gather_nd(gpu(), GetParam(), GetParam() == 3 ? 1 : 2);
}
TEST_P(DeviceExhaustive, Scatter) { check_every_scatter(gpu(), GetParam(), false); }
TEST_P(DeviceExhaustive, ScatterElements) {
  check_every_scatter_elements(gpu(), GetParam(), GetParam() < 2 ? 3 : 1);
}
TEST_P(DeviceExhaustive, ScatterNd) {
  check_every_scatter_nd(gpu(), GetParam(), GetParam() < 2 ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(Rank, DeviceExhaustive, testing::Range(int64_t{0}, int64_t{4}));

class DeviceExhaustiveMore : public DeviceExhaustive {};

TEST_P(DeviceExhaustiveMore, BatchedGather) { check_every_gather(gpu(), GetParam(), true); }
TEST_P(DeviceExhaustiveMore, BroadcastGatherElements) {
  check_every_gather_elements(gpu(), GetParam(), true, GetParam() == 3 ? 1 : 2);
}
TEST_P(DeviceExhaustiveMore, BatchedScatter) { check_every_scatter(gpu(), GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Rank, DeviceExhaustiveMore, testing::Range(int64_t{2}, int64_t{4}));

class DeviceExhaustiveXla : public DeviceExhaustive {};

TEST_P(DeviceExhaustiveXla, Gather) {
  for (int64_t data_rank = GetParam() == 0 ? 1 : 0; data_rank <= 2; ++data_rank) {
    check_every_xla_gather(gpu(), data_rank, GetParam());
  }
}
TEST_P(DeviceExhaustiveXla, Scatter) {
  for (int64_t data_rank = GetParam() == 0 ? 1 : 0; data_rank <= 2; ++data_rank) {
    check_every_xla_scatter(gpu(), data_rank, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(IndicesRank, DeviceExhaustiveXla, testing::Range(int64_t{0}, int64_t{3}));

}  // namespace
