// SPDX-License-Identifier: MIT
//
// Every small gather there is, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/worlds.h"

namespace {

TEST(ExhaustiveGather, Rank0) { gather_world(host(), 0, false); }
TEST(ExhaustiveGather, Rank1) { gather_world(host(), 1, false); }
TEST(ExhaustiveGather, Rank2) { gather_world(host(), 2, false); }
TEST(ExhaustiveGather, Rank3) { gather_world(host(), 3, false); }
TEST(ExhaustiveGather, BatchedRank1) { gather_world(host(), 1, true); }
TEST(ExhaustiveGather, BatchedRank2) { gather_world(host(), 2, true); }
TEST(ExhaustiveGather, BatchedRank3) { gather_world(host(), 3, true); }

TEST(ExhaustiveGatherElements, Rank0) { gather_elements_world(host(), 0, false, 2); }
TEST(ExhaustiveGatherElements, Rank1) { gather_elements_world(host(), 1, false, 3); }
TEST(ExhaustiveGatherElements, Rank2) { gather_elements_world(host(), 2, false, 2); }
TEST(ExhaustiveGatherElements, Rank3) { gather_elements_world(host(), 3, false, 1); }
TEST(ExhaustiveGatherElements, BroadcastRank1) { gather_elements_world(host(), 1, true, 3); }
TEST(ExhaustiveGatherElements, BroadcastRank2) { gather_elements_world(host(), 2, true, 2); }
TEST(ExhaustiveGatherElements, BroadcastRank3) { gather_elements_world(host(), 3, true, 1); }

TEST(ExhaustiveGatherNd, Rank0) { gather_nd_world(host(), 0, 2); }
TEST(ExhaustiveGatherNd, Rank1) { gather_nd_world(host(), 1, 2); }
TEST(ExhaustiveGatherNd, Rank2) { gather_nd_world(host(), 2, 2); }
TEST(ExhaustiveGatherNd, Rank3) { gather_nd_world(host(), 3, 1); }

}  // namespace
