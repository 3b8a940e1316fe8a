// SPDX-License-Identifier: MIT
#include "abi.h"

#include <gtest/gtest.h>

#include <type_traits>

extern "C" {
extern decltype(&BNNSGather) const bnns_gather_from_c;
extern decltype(&BNNSGatherND) const bnns_gather_nd_from_c;
extern decltype(&BNNSScatter) const bnns_scatter_from_c;
extern decltype(&BNNSScatterND) const bnns_scatter_nd_from_c;
extern decltype(&BNNSDataLayoutGetRank) const bnns_rank_from_c;
extern decltype(&sheaf_last_error) const last_error_from_c;
}

namespace {

static_assert(std::is_same_v<BNNSAlloc, int (*)(void**, size_t, size_t)>);
static_assert(std::is_same_v<BNNSFree, void (*)(void*)>);
static_assert(std::is_trivial_v<BNNSNDArrayDescriptor> && std::is_trivial_v<BNNSFilterParameters>);

TEST(BnnsAbi, CAndCxxSeeTheSameFunctions) {
  EXPECT_EQ(bnns_gather_from_c, &BNNSGather);
  EXPECT_EQ(bnns_gather_nd_from_c, &BNNSGatherND);
  EXPECT_EQ(bnns_scatter_from_c, &BNNSScatter);
  EXPECT_EQ(bnns_scatter_nd_from_c, &BNNSScatterND);
  EXPECT_EQ(bnns_rank_from_c, &BNNSDataLayoutGetRank);
  EXPECT_EQ(last_error_from_c, &sheaf_last_error);
}

}  // namespace
