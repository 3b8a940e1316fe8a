// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program.h"
#include "sheaf/cuda.h"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPass = "tests/cases/pass.json";
constexpr const char* kFail = "tests/cases/fail.json";
constexpr const char* kMalformed = "tests/cases/malformed.json";
constexpr const char* kSkip = "tests/cases/skip.json";

TEST(Check, FailuresAreToldAndCounted) {
  const Finished run = run_sheaf({"check", kFail});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("FAILED   tests/cases/fail.json #1  wrong value\n"
                                 "    expected  i32[2] {12, 11}\n"
                                 "    got       i32[2] {12, 10}\n"
                                 "    first     element 1 of 2 is 10, expected 11\n"
                                 "    repeat    sheaf explain 'gather i32[3] i64[2] axis=0'\n"));
  EXPECT_THAT(run.out, EndsWith("\n0 passed, 11 failed\n"));
}

TEST(Check, OneFailureAmongManyIsEnough) {
  const Finished run = run_sheaf({"check", kPass, kFail, "--name", "wrong value"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, EndsWith("0 passed, 1 failed\n"));
  const Finished all = run_sheaf({"check", kFail, kPass});
  EXPECT_EQ(all.status, 1);
  EXPECT_THAT(all.out, EndsWith("55 passed, 11 failed\n"));
}

TEST(Check, MalformedCasesFail) {
  const Finished run = run_sheaf({"check", kMalformed});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, EndsWith("\n0 passed, 40 failed\n"));
}

TEST(Check, MalformedFilesAreNamedWithThePosition) {
  const std::string path = temporary_file("broken.json", "[\n  {\"name\": \"x\",}\n]\n");
  const Finished run = run_sheaf({"check", path, kPass});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("sheaf check: " + path + ": parse error at line 2, column 16"));
  EXPECT_EQ(run.out, "55 passed, 0 failed\n");
}

TEST(Check, UnreadableFilesAreNamed) {
  const Finished run = run_sheaf({"check", "no_such.json", "tests/cases"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("sheaf check: no_such.json: cannot be opened\n"));
}

TEST(Check, NothingToRunIsNotSuccess) {
  const Finished run = run_sheaf({"check", kPass, "--name", "there is no such name"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("there is no such case in these files"));
  EXPECT_EQ(run.out, "0 passed, 0 failed\n");
}

TEST(Check, SkippedCasesAreCountedByReason) {
  const Finished run = run_sheaf({"check", kSkip});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out,
            "skipped 1: type float4_e2m1fn is not supported\n"
            "skipped 1: type float8_e4m3fnuz is not supported\n"
            "0 passed, 0 failed, 2 skipped\n");
}

TEST(Check, CasesPass) {
  const Finished run = run_sheaf({"check", kPass});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "55 passed, 0 failed\n");
  EXPECT_EQ(run.err, "");
}

TEST(Check, CasesPassOnEveryLayoutAndBackend) {
  EXPECT_EQ(run_sheaf({"check", kPass, "--layout", "strided"}).out, "55 passed, 0 failed\n");
  EXPECT_EQ(run_sheaf({"check", kPass, "--layout", "strided", "--backend", "reference"}).out,
            "55 passed, 0 failed\n");
}

TEST(Check, CasesPassOnTheDevice) {
  const Finished run = run_sheaf({"check", kPass, "--layout", "strided", "--backend", "cuda"});
  if (sheaf::cuda::available()) {
    EXPECT_EQ(run.out, "55 passed, 0 failed\n");
    EXPECT_THAT(run_sheaf({"check", kFail, "--backend", "cuda"}).out,
                EndsWith("\n0 passed, 11 failed\n"));
  } else {
    EXPECT_EQ(run.status, 2);
    const std::vector<std::string> devices = sheaf::device_names();
    const bool built = std::find(devices.begin(), devices.end(), "cuda") != devices.end();
    EXPECT_THAT(run.err, HasSubstr(built ? "cuda cannot be used: " + sheaf::cuda::description()
                                         : "\"cuda\" is no backend of this build"));
  }
}

TEST(Check, FiltersByOperatorAndName) {
  EXPECT_EQ(run_sheaf({"check", kPass, "--op", "xla_gather"}).out, "2 passed, 0 failed\n");
  EXPECT_EQ(run_sheaf({"check", kPass, "--op", "xla_gather,gather_nd", "--name", "error"}).out,
            "1 passed, 0 failed\n");
  EXPECT_EQ(run_sheaf({"check", kPass, "--op", "scatter_update,scatter_nd"}).out,
            "4 passed, 0 failed\n");
}

TEST(Check, VerboseListsEveryCase) {
  const Finished run = run_sheaf({"check", kPass, kSkip, "--verbose"});
  EXPECT_THAT(run.out,
              HasSubstr("passed   tests/cases/pass.json #2  gather: rows, from the end\n"));
  EXPECT_THAT(run.out,
              HasSubstr("skipped  tests/cases/skip.json #1  float4: type float4_e2m1fn is not"));
}

TEST(Check, NamesDoNotReachTheTerminalRaw) {
  const std::string path =
      temporary_file("escape.json", R"([{"name": "\u001b[2Jgone", "op": "\u001b[31mred"}])");
  const Finished run = run_sheaf({"check", path});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("?[2Jgone"));
  EXPECT_THAT(run.out, HasSubstr("unknown op \"?[31mred\""));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

}  // namespace
