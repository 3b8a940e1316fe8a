// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace {

using testing::HasSubstr;

TEST(Bench, RefusesWhatCannotBeTimed) {
  EXPECT_EQ(run_sheaf({"bench"}).status, 2);
  EXPECT_EQ(run_sheaf({"bench", "gather f32[3] i64[2] axis=1"}).status, 1);
  const Finished run = run_sheaf({"bench", "gather f32[3] i64[2]", "--kernel", "none.such"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("\"none.such\" names no gather kernel of this build"));
}

TEST(Bench, CountsTheBytesAndNamesTheKernel) {
  const Finished run = run_sheaf({"bench", "gather_nd f32[10,20,4] i32[6,2]", "--threads", "1",
                                  "--kernel", "reference", "--seconds", "0", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["kernel"], "reference.loops");
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["rows"], 6);
  EXPECT_EQ(json["bytes_moved"], 6 * 2 * 4 + 2 * 6 * 16);
  EXPECT_GT(json["warm"]["best_s"], 0.0);
  EXPECT_GE(json["cold"]["rounds"], 5);
  EXPECT_GT(json["copy_bytes_per_s"], 0.0);
}

TEST(Bench, TimesScattersInPlace) {
  const auto bytes = [](const std::string& more) {
    const Finished run = run_sheaf({"bench", "scatter f32[10,4] i64[6] axis=0" + more, "--threads",
                                    "1", "--seconds", "0", "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    return run.status == 0 ? nlohmann::json::parse(run.out)["bytes_moved"].get<int>() : 0;
  };
  EXPECT_EQ(bytes(""), 6 * 8 + 2 * 6 * 16);
  EXPECT_EQ(bytes(" reduction=add"), 6 * 8 + 3 * 6 * 16) << "the output is read as well";
  EXPECT_EQ(bytes(" onto_zeros=1"), 6 * 8 + 2 * 6 * 16 + 10 * 16);
  EXPECT_EQ(run_sheaf({"bench", "scatter f32[10,4] i64[6] f32[6] axis=0"}).status, 1);
}

// Indices of a small type must stay within it, however long the axis.
TEST(Bench, MakesIndicesThatFitTheirType) {
  const Finished run = run_sheaf({"bench", "gather u8[100000] i8[64] negative=out_of_range",
                                  "--seconds", "0", "--threads", "1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("of the copy rate"));
}

}  // namespace
