// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"
#include "sheaf/version.h"

namespace {

using testing::HasSubstr;

TEST(Usage, MistakesAreStatusTwoAndGoToStderr) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"gather"},
      {"--no-such-option"},
      {"explain"},
      {"explain", "gather", "f32[2]", "i64[2]", "--no-such-option"},
      {"explain", "gather f32[2] i64[2]", "--limit", "-1"},
      {"explain", "gather f32[2] i64[2]", "--color", "sometimes"},
      {"check"},
      {"check", "x.json", "--op", "gather,scatter"},
      {"check", "x.json", "--backend", "fpga"},
      {"check", "x.json", "--layout", "diagonal"},
      {"demo", "--table-mib", "0"},
      {"demo", "--table-mib", "many"},
      {"doctor", "please"},
  };
  for (const auto& arguments : mistakes) {
    const Finished run = run_sheaf(arguments);
    EXPECT_EQ(run.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(run.out, "") << testing::PrintToString(arguments);
    EXPECT_THAT(run.err, HasSubstr("--help")) << testing::PrintToString(arguments);
  }
}

TEST(Usage, MistakesAreNamed) {
  EXPECT_THAT(run_sheaf({"check", "x.json", "--op", "gather,scatter"}).err,
              HasSubstr("--op: \"scatter\" names no operator"));
  EXPECT_THAT(run_sheaf({"check", "x.json", "--backend", "fpga"}).err,
              HasSubstr("\"fpga\" is no backend of this build"));
}

TEST(Usage, HelpHasExamplesEverywhere) {
  for (const std::string command : {"", "check", "demo", "doctor", "explain"}) {
    const Finished run = command.empty() ? run_sheaf({"--help"}) : run_sheaf({command, "--help"});
    EXPECT_EQ(run.status, 0) << command;
    EXPECT_THAT(run.out, HasSubstr("Examples:\n  sheaf ")) << command;
    EXPECT_EQ(run.err, "") << command;
  }
  EXPECT_THAT(run_sheaf({"--help"}).out, HasSubstr("Exit status: 0"));
}

TEST(Usage, VersionIsPrinted) {
  const Finished run = run_sheaf({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "sheaf " SHEAF_VERSION "\n");
}

}  // namespace
