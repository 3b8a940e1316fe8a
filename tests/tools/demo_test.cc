// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Demo, DrawsChecksAndTimes) {
  const Finished run = run_sheaf({"demo", "--table-mib", "2"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "") << "no progress bar without a terminal";
  EXPECT_THAT(run.out, HasSubstr("DML_GATHER_ELEMENTS: pick within each column\n"
                                 "  output[i, j] = data[indices[i, j], j]\n"));
  EXPECT_THAT(run.out, HasSubstr("Embedding lookup: 4,096 random rows of a table of 4,096 rows\n"));
  EXPECT_THAT(run.out, HasSubstr("  moved        2,097,152 bytes (2 MiB)\n"));
  EXPECT_THAT(run.out, HasSubstr("  result       every element checked and right\n"));
  EXPECT_THAT(run.out, EndsWith("\nall 14 examples and the lookup are right\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run.out, Not(HasSubstr("WRONG")));
}

TEST(Demo, HasColorsWhenAsked) {
  EXPECT_THAT(run_sheaf({"demo", "--table-mib", "1", "--color", "always"}, "NO_COLOR=1").out,
              HasSubstr("\x1b["));
}

}  // namespace
