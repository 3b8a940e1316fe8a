// SPDX-License-Identifier: MIT
//
// Every small general gather and scatter, on every kernel of every backend.
#include <gtest/gtest.h>

#include "helpers/exhaustive.h"

namespace {

TEST(ExhaustiveXlaGather, DataRank0) {
  check_every_xla_gather(host(), 0, 1);
  check_every_xla_gather(host(), 0, 2);
}
TEST(ExhaustiveXlaGather, DataRank1) {
  check_every_xla_gather(host(), 1, 0);
  check_every_xla_gather(host(), 1, 1);
  check_every_xla_gather(host(), 1, 2);
}
TEST(ExhaustiveXlaGather, DataRank2IndicesRank0) { check_every_xla_gather(host(), 2, 0); }
TEST(ExhaustiveXlaGather, DataRank2IndicesRank1) { check_every_xla_gather(host(), 2, 1); }
TEST(ExhaustiveXlaGather, DataRank2IndicesRank2) { check_every_xla_gather(host(), 2, 2); }

TEST(ExhaustiveXlaScatter, DataRank0) {
  check_every_xla_scatter(host(), 0, 1);
  check_every_xla_scatter(host(), 0, 2);
}
TEST(ExhaustiveXlaScatter, DataRank1) {
  check_every_xla_scatter(host(), 1, 0);
  check_every_xla_scatter(host(), 1, 1);
  check_every_xla_scatter(host(), 1, 2);
}
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank0) { check_every_xla_scatter(host(), 2, 0); }
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank1) { check_every_xla_scatter(host(), 2, 1); }
TEST(ExhaustiveXlaScatter, DataRank2IndicesRank2) { check_every_xla_scatter(host(), 2, 2); }

}  // namespace
