// SPDX-License-Identifier: MIT
//
// What the program does with terminals, full disks, closed pipes and the texts that people type.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "io/scratch.h"
#include "program.h"
#include "support/utf8.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

struct OnTerminal {
  int status = -1;
  std::string text;  // what the terminal got, of both streams
};

// Replaces this process by the program.
[[noreturn]] void become_sheaf(const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  std::string program = SHEAF_PROGRAM;
  words.push_back(program.data());
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

OnTerminal run_on_terminal(const std::vector<std::string>& arguments, int columns) {
  winsize size = {};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    unsetenv("COLUMNS");
    become_sheaf(arguments);
  }
  OnTerminal run;
  char piece[4096];
  for (ssize_t got = 1; got > 0;) {
    got = read(terminal, piece, sizeof piece);  // fails when the other side is gone
    run.text.append(piece, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

// A table of zeros that takes no disk: `mebibytes` of f32.
std::string sparse_table(const Scratch& scratch, int64_t mebibytes) {
  const int64_t elements = mebibytes << 18;
  const std::string header = npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }",
      "");
  const std::string path = scratch.write("zeros.npy", header);
  EXPECT_EQ(truncate(path.c_str(), std::ssize(header) + elements * 4), 0);
  return path;
}

// What a bar looked like, each time it was drawn. A bar begins with a carriage return and a cleared
// line, and is cleared in the end.
std::vector<std::string> bars_of(const std::string& text) {
  const std::string clear = "\r\033[K";
  std::vector<std::string> bars;
  for (size_t at = text.find(clear); at != std::string::npos;) {
    const size_t end = text.find(clear, at + 1);
    if (end != std::string::npos) {
      bars.push_back(text.substr(at + clear.size(), end - at - clear.size()));
    }
    at = end;
  }
  return bars;
}

class Manners : public testing::Test {
 protected:
  Manners() {
    const std::vector<float> values = {0, 1, 10, 11, 20, 21, 30, 31};
    table_ = scratch_.path("table.npy");
    save(table_, "", view(values, {4, 2}));
  }
  std::vector<float> floats(const std::string& path) const {
    const Array array = open_table(path).load();
    const auto values = array.elements<float>();
    return {values.begin(), values.end()};
  }
  Scratch scratch_;
  std::string table_;
};

TEST_F(Manners, BytesDoNotGoToATerminal) {
  const OnTerminal run = run_on_terminal({"gather", table_, "0,1", "-o", "-"}, 80);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.text,
            "gather: no bytes to a terminal\r\n"
            "  -o - writes .npy to standard output, which is a terminal\r\n"
            "  try: -o FILE, or a program after |\r\n");
  EXPECT_THAT(run_on_terminal({"bag", table_, "0,1;2,3", "-o", "-"}, 80).text,
              HasSubstr("bag: no bytes to a terminal\r\n"));
}

TEST_F(Manners, BagsGoToStandardOutputToo) {
  const Finished run = run_sheaf({"bag", table_, "0,1;2,3", "-o", "-"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(floats(scratch_.write("piped.npy", run.out)), ElementsAre(10, 12, 50, 52));
}

TEST_F(Manners, BarsFitTheTerminal) {
  const std::string zeros = sparse_table(scratch_, 64);
  for (const int columns : {30, 60, 120}) {
    const OnTerminal run = run_on_terminal({"inspect", zeros, "--stats"}, columns);
    EXPECT_EQ(run.status, 0) << run.text;
    EXPECT_THAT(run.text, HasSubstr("reading"));
    EXPECT_THAT(run.text, HasSubstr("count 16,777,216"));
    EXPECT_GT(bars_of(run.text).size(), 1U) << run.text;
    for (const std::string& bar : bars_of(run.text)) {
      EXPECT_LT(text_width(bar), columns) << bar;
    }
  }
}

TEST_F(Manners, LongReadsHaveBars) {
  const std::string zeros = sparse_table(scratch_, 64);
  const std::string out = scratch_.path("out.npy");
  const std::vector<std::string> bag = {"bag", zeros, "0,1,2", "--offsets", "0,1", "-o", out};
  for (const std::vector<std::string>& arguments : {bag, {"convert", zeros, out}}) {
    const OnTerminal run = run_on_terminal(arguments, 80);
    EXPECT_EQ(run.status, 0) << run.text;
    const std::vector<std::string> bars = bars_of(run.text);
    ASSERT_GT(bars.size(), 1U) << arguments[0];
    EXPECT_THAT(bars.front(), HasSubstr(arguments[0] == "bag" ? "  reading " : "  convert "));
    EXPECT_THAT(bars, Contains(HasSubstr(" 100 %"))) << arguments[0];
  }
  std::vector<std::string> quiet = bag;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(run_on_terminal(quiet, 80).text, "");
  EXPECT_EQ(run_sheaf(bag).err, "") << "a bar without a terminal";
}

TEST_F(Manners, PicturesFitTheTerminal) {
  const OnTerminal run =
      run_on_terminal({"explain", "gather f32[4,6] i64[3]={3,0,3}", "--color", "never"}, 40);
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.text, HasSubstr("\r\n\r\nindices i64[3]\r\n")) << "one below the other";
}

TEST_F(Manners, AFullDiskIsAnError) {
  const std::string program = SHEAF_PROGRAM;
  for (const std::string& arguments :
       {std::string("explain 'gather f32[2] i64[2]'"), std::string("explain --names"),
        std::string("explain 'gather f32[2] i64[2]' --svg -"), std::string("completion bash"),
        std::string("--help"), std::string("help"), std::string("doctor"), "inspect " + table_,
        "gather " + table_ + " 0 -o -"}) {
    const std::string command = program + " " + arguments + " >/dev/full 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << arguments;
  }
  EXPECT_EQ(run_sheaf({"explain", "gather f32[2] i64[2]", "--svg", "/dev/full"}).status, 1);
  const std::string told = scratch_.path("told");
  EXPECT_NE(std::system((program + " gather " + table_ + " 0 -o - >/dev/full 2>" + told).c_str()),
            0);
  std::ifstream file(told);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "file: cannot write\n"
            "  standard output: No space left on device (errno 28)\n"
            "  try: -o FILE\n");
}

// With nobody to read, the program ends by the signal, as others do; where that is ignored, with an
// error.
TEST_F(Manners, AClosedPipeIsAnError) {
  for (const bool ignored : {false, true}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"explain", "--names"},
          std::vector<std::string>{"gather", table_, "0", "-o", "-"}}) {
      int ends[2];
      ASSERT_EQ(pipe(ends), 0);
      const pid_t child = fork();
      if (child == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
        become_sheaf(arguments);
      }
      close(ends[0]);
      close(ends[1]);
      int status = 0;
      waitpid(child, &status, 0);
      if (ignored) {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
      } else {
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) << status;
      }
    }
  }
}

TEST_F(Manners, WhatWasReadIsSaidInWordsThatFit) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_THAT(
      run_sheaf({"gather", table_, "0", "-o", out}).out,
      testing::MatchesRegex("f32\\[1, 2\\] to .*; read [0-9.]+ (bytes|KiB) in 1 request\n"));
}

TEST_F(Manners, AHeaderIsNamedWithItsFileAndLine) {
  const std::string out = scratch_.path("out.npy");
  const std::string header = scratch_.write("ids.csv", "row\n1\n2\n");
  const Finished run = run_sheaf({"gather", table_, header, "-o", out});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "argument: not an index\n  line 1 of " + header +
                         ": \"row\" is not a 64-bit integer\n"
                         "  try: a file without a header: tail -n +2 FILE, and - for INDICES\n");
  const std::string later = scratch_.write("later.csv", "1\n2\n3 x\n");
  EXPECT_THAT(run_sheaf({"gather", table_, later, "-o", out}).err,
              HasSubstr("line 3 of " + later + ": \"x\" is not a 64-bit integer\n  try: integers"));
  EXPECT_THAT(
      run_sheaf({"gather", table_, "-", "-o", out}, "", scratch_.write("in", "1,2\n3\n")).err,
      HasSubstr("line 2 of standard input: row 1 has 1 numbers, the one before 2"));
}

TEST_F(Manners, IndicesMayBeRanges) {
  const std::string out = scratch_.path("out.npy");
  const auto rows = [&](const std::string& indices) {
    const Finished run = run_sheaf({"gather", table_, indices, "-o", out});
    EXPECT_EQ(run.status, 0) << indices << run.err;
    std::vector<float> first;
    const std::vector<float> all = floats(out);
    for (size_t i = 0; i < all.size(); i += 2) {
      first.push_back(all[i] / 10);
    }
    return first;
  };
  EXPECT_THAT(rows("0:4"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(rows("0:4:2,3"), ElementsAre(0, 2, 3));
  EXPECT_THAT(rows("3:-1:-2"), ElementsAre(3, 1));
  EXPECT_THAT(rows("-2:0"), ElementsAre(2, 3));
  EXPECT_THAT(rows("0,2:2"), ElementsAre(0));
  const auto error = [&](const std::string& indices) {
    return run_sheaf({"gather", table_, indices, "-o", out}).err;
  };
  EXPECT_EQ(error("0:4:0"),
            "argument: not a range\n  \"0:4:0\" has steps of 0\n  try: 0:10 or 0:10:2\n");
  EXPECT_THAT(error("0:"), HasSubstr("\"0:\" is not a 64-bit integer"));
  EXPECT_THAT(error("-9223372036854775808:9223372036854775807"),
              HasSubstr("has 18446744073709551615 indices, more than 1073741824"));
}

TEST_F(Manners, OneUpdateStandsForAll) {
  const std::string out = scratch_.path("out.npy");
  const Finished run = run_sheaf({"scatter", table_, "1,2", "-5.5", "-o", out});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(floats(out), ElementsAre(0, 1, -5.5, -5.5, -5.5, -5.5, 30, 31));
  EXPECT_THAT(run_sheaf({"scatter", table_, "1,2", "1,2", "-o", out}).err,
              HasSubstr("holds 2 values, but f32[2, 2] needs 4"));
}

TEST_F(Manners, AdviceIsInOptions) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_THAT(run_sheaf({"gather", table_, "3,4", "-o", out}).err,
              HasSubstr("\n  try: --out-of-range clamp, or --out-of-range fill --fill VALUE;  "
                        "picture: sheaf explain 'gather f32[4,2] i64[2]={0,4} axis=0'\n"));
  EXPECT_THAT(run_sheaf({"scatter", table_, "3,4", "1", "-o", out}).err,
              HasSubstr("\n  try: --out-of-range clamp or --out-of-range skip;  picture: "));
  EXPECT_THAT(run_sheaf({"bag", table_, "3,4", "--offsets", "0", "-o", out}).err,
              HasSubstr("\n  try: --out-of-range clamp or --out-of-range skip"));
  EXPECT_THAT(run_sheaf({"explain", "gather f32[4,2] i64[2]={0,4}"}).err,
              HasSubstr("\n  try: out_of_range=clamp or out_of_range=fill\n"));
}

}  // namespace
