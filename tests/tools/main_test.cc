// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"
#include "sheaf/version.h"

namespace {

using testing::HasSubstr;

TEST(Usage, MistakesAreStatusTwoAndGoToStderr) {
  const std::vector<std::vector<std::string>> mistakes = {
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

TEST(Usage, HelpIsACommandToo) {
  const std::string help = run_sheaf({"--help"}).out;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, std::vector<std::string>{"help"},
        std::vector<std::string>{"help", "help"}}) {
    const Finished run = run_sheaf(words);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.out, help);
    EXPECT_EQ(run.err, "");
  }
  EXPECT_EQ(run_sheaf({"help", "gather"}).out, run_sheaf({"gather", "--help"}).out);
}

TEST(Usage, MistypedWordsGetAQuestion) {
  const Finished command = run_sheaf({"docter", "--json"});
  EXPECT_EQ(command.status, 2);
  EXPECT_EQ(command.out, "");
  EXPECT_EQ(command.err,
            "\"docter\" is no command; did you mean doctor?\n"
            "Run with --help for more information.\n");
  EXPECT_THAT(run_sheaf({"help", "explian"}).err, HasSubstr("did you mean explain?"));
  EXPECT_EQ(run_sheaf({"reformat"}).err,
            "\"reformat\" is no command\nRun with --help for more information.\n");
  const Finished option = run_sheaf({"explain", "gather f32[2] i64[2]", "--kernel"});
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.err, HasSubstr("--kernel: did you mean --kernels?\n"));
  EXPECT_THAT(run_sheaf({"gather", "a.npy", "0", "-o", "b.npy", "--out-of_range=clamp"}).err,
              HasSubstr("--out-of_range: did you mean --out-of-range?\n"));
  for (const auto& value : {std::vector<std::string>{"--out-of-range", "clmp"},
                            std::vector<std::string>{"--out-of-range=clmp"}}) {
    std::vector<std::string> words = {"gather", "a.npy", "0", "-o", "b.npy"};
    words.insert(words.end(), value.begin(), value.end());
    const Finished run = run_sheaf(words);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr("--out-of-range: did you mean clamp?\n"));
  }
  EXPECT_THAT(run_sheaf({"gather", "a.npy", "0", "-o", "b.npy", "--out-of-range", "zebra"}).err,
              testing::Not(HasSubstr("did you mean")));
}

TEST(Completion, OffersTheValuesOfOptions) {
  const std::string bash = run_sheaf({"completion", "bash"}).out;
  EXPECT_THAT(bash, HasSubstr("'scatter --reduction') words='none add sub mul min max mean' ;;\n"));
  EXPECT_THAT(bash, HasSubstr("'explain --color') words='auto always never' ;;\n"));
  const std::string zsh = run_sheaf({"completion", "zsh"}).out;
  EXPECT_THAT(zsh, HasSubstr("]:RULE:(fail clamp wrap fill)'"));
  EXPECT_THAT(zsh, HasSubstr("]:FILE:_files'"));
  const std::string fish = run_sheaf({"completion", "fish"}).out;
  EXPECT_THAT(fish, HasSubstr("-l pool -x -a 'sum mean max min mul sqrtn' -d '"));
  EXPECT_THAT(fish, HasSubstr("-l svg -r -d '"));
}

TEST(Completion, OffersShellsAndTheCommandsToHelpWith) {
  const std::string bash = run_sheaf({"completion", "bash"}).out;
  EXPECT_THAT(bash, HasSubstr("'completion completion') words='bash zsh fish' ;;\n"));
  EXPECT_THAT(bash, HasSubstr("'help help') words='gather gather_elements "));
  const std::string zsh = run_sheaf({"completion", "zsh"}).out;
  EXPECT_THAT(zsh, HasSubstr("'completion 3')\n      compadd bash zsh fish\n"));
  const std::string fish = run_sheaf({"completion", "fish"}).out;
  EXPECT_THAT(fish, HasSubstr("__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"));
  EXPECT_THAT(fish, HasSubstr("-a help -d 'Print the help of a command'\n"));
}

TEST(Usage, VersionIsPrinted) {
  const Finished run = run_sheaf({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "sheaf " SHEAF_VERSION "\n");
}

}  // namespace
