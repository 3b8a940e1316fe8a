// SPDX-License-Identifier: MIT
//
// Every small scatter there is, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/worlds.h"

namespace {

TEST(ExhaustiveScatter, Rank0) { scatter_world(host(), 0, false); }
TEST(ExhaustiveScatter, Rank1) { scatter_world(host(), 1, false); }
TEST(ExhaustiveScatter, Rank2) { scatter_world(host(), 2, false); }
TEST(ExhaustiveScatter, Rank3) { scatter_world(host(), 3, false); }
TEST(ExhaustiveScatter, BatchedRank2) { scatter_world(host(), 2, true); }
TEST(ExhaustiveScatter, BatchedRank3) { scatter_world(host(), 3, true); }

TEST(ExhaustiveScatterElements, Rank0) { scatter_elements_world(host(), 0, 2); }
TEST(ExhaustiveScatterElements, Rank1) { scatter_elements_world(host(), 1, 3); }
TEST(ExhaustiveScatterElements, Rank2) { scatter_elements_world(host(), 2, 1); }
TEST(ExhaustiveScatterElements, Rank3) { scatter_elements_world(host(), 3, 1); }

TEST(ExhaustiveScatterNd, Rank0) { scatter_nd_world(host(), 0, 2); }
TEST(ExhaustiveScatterNd, Rank1) { scatter_nd_world(host(), 1, 2); }
TEST(ExhaustiveScatterNd, Rank2) { scatter_nd_world(host(), 2, 1); }
TEST(ExhaustiveScatterNd, Rank3) { scatter_nd_world(host(), 3, 1); }

}  // namespace
