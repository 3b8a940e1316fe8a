// SPDX-License-Identifier: MIT
//
// Every small general gather and scatter, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/worlds.h"

namespace {

TEST(ExhaustiveXlaGather, DataRank0) {
  xla_gather_world(host(), 0, 1);
  xla_gather_world(host(), 0, 2);
}
TEST(ExhaustiveXlaGather, DataRank1) {
  xla_gather_world(host(), 1, 0);
  xla_gather_world(host(), 1, 1);
  xla_gather_world(host(), 1, 2);
}
TEST(ExhaustiveXlaGather, DataRank2IndicesRank0) { xla_gather_world(host(), 2, 0); }
TEST(ExhaustiveXlaGather, DataRank2IndicesRank1) { xla_gather_world(host(), 2, 1); }
TEST(ExhaustiveXlaGather, DataRank2IndicesRank2) { xla_gather_world(host(), 2, 2); }

TEST(ExhaustiveXlaScatter, DataRank0) {
  xla_scatter_world(host(), 0, 1);
  xla_scatter_world(host(), 0, 2);
}
TEST(ExhaustiveXlaScatter, DataRank1) {
  xla_scatter_world(host(), 1, 0);
  xla_scatter_world(host(), 1, 1);
  xla_scatter_world(host(), 1, 2);
}
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank0) { xla_scatter_world(host(), 2, 0); }
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank1) { xla_scatter_world(host(), 2, 1); }
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank2) { xla_scatter_world(host(), 2, 2); }

}  // namespace
