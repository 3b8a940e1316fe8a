// SPDX-License-Identifier: MIT
//
// Every small problem of tests/backends/exhaustive_*_test.cc on the GPU: all shapes and rules, and
// of the fillings of the indices one in 13 (SHEAF_TEST_ONE_IN=1 runs all).
#include <gtest/gtest.h>

#include "helpers/device.h"
#include "helpers/worlds.h"

namespace {

class CudaExhaustive : public DeviceTest, public testing::WithParamInterface<int64_t> {};

TEST_P(CudaExhaustive, Gather) { gather_world(gpu(), GetParam(), false); }
TEST_P(CudaExhaustive, GatherElements) {
  gather_elements_world(gpu(), GetParam(), false, GetParam() == 3 ? 1 : 2);
}
TEST_P(CudaExhaustive, GatherNd) { gather_nd_world(gpu(), GetParam(), GetParam() == 3 ? 1 : 2); }
TEST_P(CudaExhaustive, Scatter) { scatter_world(gpu(), GetParam(), false); }
TEST_P(CudaExhaustive, ScatterElements) {
  scatter_elements_world(gpu(), GetParam(), GetParam() < 2 ? 3 : 1);
}
TEST_P(CudaExhaustive, ScatterNd) { scatter_nd_world(gpu(), GetParam(), GetParam() < 2 ? 2 : 1); }

INSTANTIATE_TEST_SUITE_P(Rank, CudaExhaustive, testing::Range(int64_t{0}, int64_t{4}));

class CudaExhaustiveMore : public CudaExhaustive {};

TEST_P(CudaExhaustiveMore, BatchedGather) { gather_world(gpu(), GetParam(), true); }
TEST_P(CudaExhaustiveMore, BroadcastGatherElements) {
  gather_elements_world(gpu(), GetParam(), true, GetParam() == 3 ? 1 : 2);
}
TEST_P(CudaExhaustiveMore, BatchedScatter) { scatter_world(gpu(), GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Rank, CudaExhaustiveMore, testing::Range(int64_t{2}, int64_t{4}));

class CudaExhaustiveXla : public CudaExhaustive {};

TEST_P(CudaExhaustiveXla, Gather) {
  for (int64_t data_rank = GetParam() == 0 ? 1 : 0; data_rank <= 2; ++data_rank) {
    xla_gather_world(gpu(), data_rank, GetParam());
  }
}
TEST_P(CudaExhaustiveXla, Scatter) {
  for (int64_t data_rank = GetParam() == 0 ? 1 : 0; data_rank <= 2; ++data_rank) {
    xla_scatter_world(gpu(), data_rank, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(IndicesRank, CudaExhaustiveXla, testing::Range(int64_t{0}, int64_t{3}));

}  // namespace
