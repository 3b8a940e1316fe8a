// SPDX-License-Identifier: MIT
//
// Every small gather there is, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/exhaustive.h"

namespace {

TEST(ExhaustiveGather, Rank0) { check_every_gather(host(), 0, false); }
TEST(ExhaustiveGather, Rank1) { check_every_gather(host(), 1, false); }
TEST(ExhaustiveGather, Rank2) { check_every_gather(host(), 2, false); }
TEST(ExhaustiveGather, Rank3) { check_every_gather(host(), 3, false); }
TEST(ExhaustiveGather, BatchedRank1) { check_every_gather(host(), 1, true); }
TEST(ExhaustiveGather, BatchedRank2) { check_every_gather(host(), 2, true); }
TEST(ExhaustiveGather, BatchedRank3) { check_every_gather(host(), 3, true); }

TEST(ExhaustiveGatherElements, Rank0) { check_every_gather_elements(host(), 0, false, 2); }
TEST(ExhaustiveGatherElements, Rank1) { check_every_gather_elements(host(), 1, false, 3); }
TEST(ExhaustiveGatherElements, Rank2) { check_every_gather_elements(host(), 2, false, 2); }
TEST(ExhaustiveGatherElements, Rank3) { check_every_gather_elements(host(), 3, false, 1); }
TEST(ExhaustiveGatherElements, BroadcastRank1) { check_every_gather_elements(host(), 1, true, 3); }
TEST(ExhaustiveGatherElements, BroadcastRank2) { check_every_gather_elements(host(), 2, true, 2); }
TEST(ExhaustiveGatherElements, BroadcastRank3) { check_every_gather_elements(host(), 3, true, 1); }

TEST(ExhaustiveGatherNd, Rank0) { check_every_gather_nd(host(), 0, 2); }
TEST(ExhaustiveGatherNd, Rank1) { check_every_gather_nd(host(), 1, 2); }
TEST(ExhaustiveGatherNd, Rank2) { check_every_gather_nd(host(), 2, 2); }
TEST(ExhaustiveGatherNd, Rank3) { check_every_gather_nd(host(), 3, 1); }

}  // namespace
