// SPDX-License-Identifier: MIT
//
// Every small scatter there is, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/exhaustive.h"

namespace {

TEST(ExhaustiveScatter, Rank0) { check_every_scatter(host(), 0, false); }
TEST(ExhaustiveScatter, Rank1) { check_every_scatter(host(), 1, false); }
TEST(ExhaustiveScatter, Rank2) { check_every_scatter(host(), 2, false); }
TEST(ExhaustiveScatter, Rank3) { check_every_scatter(host(), 3, false); }
TEST(ExhaustiveScatter, BatchedRank2) { check_every_scatter(host(), 2, true); }
TEST(ExhaustiveScatter, BatchedRank3) { check_every_scatter(host(), 3, true); }

TEST(ExhaustiveScatterElements, Rank0) { check_every_scatter_elements(host(), 0, 2); }
TEST(ExhaustiveScatterElements, Rank1) { check_every_scatter_elements(host(), 1, 3); }
TEST(ExhaustiveScatterElements, Rank2) { check_every_scatter_elements(host(), 2, 1); }
TEST(ExhaustiveScatterElements, Rank3) { check_every_scatter_elements(host(), 3, 1); }

TEST(ExhaustiveScatterNd, Rank0) { check_every_scatter_nd(host(), 0, 2); }
TEST(ExhaustiveScatterNd, Rank1) { check_every_scatter_nd(host(), 1, 2); }
TEST(ExhaustiveScatterNd, Rank2) { check_every_scatter_nd(host(), 2, 1); }
TEST(ExhaustiveScatterNd, Rank3) { check_every_scatter_nd(host(), 3, 1); }

}  // namespace
