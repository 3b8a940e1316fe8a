// SPDX-License-Identifier: MIT
//
// The subcommands that work on files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/scratch.h"
#include "program.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using namespace sheaf;

class Files : public testing::Test {
 protected:
  Files() {
    const std::vector<float> values = {0, 1, 10, 11, 20, 21, 30, 31};
    table_ = scratch_.path("table.npy");
    save(table_, "", view(values, {4, 2}));
  }
  std::vector<float> floats(const std::string& name) const {
    const Array array = open_table(scratch_.path(name)).load();
    const auto values = array.elements<float>();
    return {values.begin(), values.end()};
  }
  Scratch scratch_;
  std::string table_;
};

TEST_F(Files, GatherTakesInlineIndices) {
  const Finished run = run_sheaf({"gather", table_, "3,0,-1", "-o", scratch_.path("out.npy")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("f32[3, 2] to "));
  EXPECT_THAT(floats("out.npy"), ElementsAre(30, 31, 0, 1, 30, 31));
}

TEST_F(Files, GatherTakesTextFilesAndStandardInput) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(
      run_sheaf({"gather", table_, scratch_.write("i.csv", "1\n2\n"), "-o", out, "--quiet"}).status,
      0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(10, 11, 20, 21));
  const Finished run =
      run_sheaf({"gather", table_, "-", "-o", out, "--quiet"}, "", scratch_.write("in", "2 0\n"));
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(floats("out.npy"), ElementsAre(20, 21, 0, 1));
}

TEST_F(Files, GatherWritesToStandardOutput) {
  const Finished run = run_sheaf({"gather", table_, "1", "-o", "-"});
  EXPECT_EQ(run.status, 0);
  scratch_.write("piped.npy", run.out);
  EXPECT_THAT(floats("piped.npy"), ElementsAre(10, 11));
}

TEST_F(Files, TheOtherGathers) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(run_sheaf({"gather_nd", table_, "3,1;0,0", "-o", out}).status, 0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(31, 0));
  EXPECT_EQ(run_sheaf({"gather_elements", table_, "1,2;3,0", "--axis", "0", "-o", out}).status, 0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(10, 21, 30, 1));
  EXPECT_EQ(
      run_sheaf({"gather", table_, "7", "--out-of-range", "fill", "--fill", "-1.5", "-o", out})
          .status,
      0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(-1.5, -1.5));
}

TEST_F(Files, ABadIndexWritesNothing) {
  const Finished run = run_sheaf({"gather", table_, "3,4", "-o", scratch_.path("out.npy")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err,
              StartsWith("gather: index out of range\n  indices[1] = 4, but axis 0 of data "
                         "has 4 entries (allowed -4..3); 1 of 2 indices are out of range"));
  EXPECT_THAT(scratch_.names(), ElementsAre("table.npy"));
}

TEST_F(Files, ScattersIntoAnotherFileOrInPlace) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(run_sheaf({"scatter", table_, "1", "5,6", "--reduction", "add", "-o", out}).status, 0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(0, 1, 15, 17, 20, 21, 30, 31));
  EXPECT_THAT(floats("table.npy"), ElementsAre(0, 1, 10, 11, 20, 21, 30, 31));
  EXPECT_EQ(run_sheaf({"scatter_nd", table_, "3,1;0,0", "7,8", "--in-place"}).status, 0);
  EXPECT_THAT(floats("table.npy"), ElementsAre(8, 1, 10, 11, 20, 21, 30, 7));
  EXPECT_EQ(run_sheaf({"scatter_elements", table_, "1,2", "4,4", "--in-place"}).status, 1);
  EXPECT_EQ(run_sheaf({"scatter", table_, "1", "5,6"}).status, 2);
}

TEST_F(Files, OneUpdateStandsForAllAndOtherCountsAreRefused) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(run_sheaf({"scatter", table_, "1,2", "7", "-o", out}).status, 0);
  EXPECT_THAT(floats("out.npy"), ElementsAre(0, 1, 7, 7, 7, 7, 30, 31));
  const Finished run = run_sheaf({"scatter", table_, "1,2", "7,8,9", "-o", out});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err,
            "argument: wrong number of updates\n"
            "  UPDATES holds 3 values, but f32[2, 2] needs 4\n"
            "  try: 4 values, one value for all of them, or a file\n");
  EXPECT_THAT(floats("out.npy"), ElementsAre(0, 1, 7, 7, 7, 7, 30, 31));
}

TEST_F(Files, RawFilesAreDescribed) {
  const std::string raw = scratch_.write("r.bin", "head" + bytes_of<int16_t>({1, 2, 3, 4, 5, 6}));
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(run_sheaf({"gather", raw + ":i16[3,2]@4", "2", "-o", out}).status, 0);
  EXPECT_THAT(open_table(out).load().elements<int16_t>(), ElementsAre(5, 6));
  EXPECT_EQ(run_sheaf({"gather", raw + ":i16[4,2]@4", "2", "-o", out}).status, 1);
  EXPECT_EQ(run_sheaf({"gather", raw + ":x16[4,2]", "2", "-o", out}).status, 1);
}

TEST_F(Files, InspectListsTensors) {
  SKIP_WITHOUT("json");
  const std::string model = scratch_.path("m.safetensors");
  EXPECT_EQ(run_sheaf({"convert", table_, model}).status, 0);
  const Finished text = run_sheaf({"inspect", model});
  EXPECT_THAT(text.out, HasSubstr("name  type  shape   bytes  offset  order"));
  EXPECT_THAT(text.out, HasSubstr("data  f32   [4, 2]     32"));
  const auto json = nlohmann::json::parse(run_sheaf({"inspect", model, "--json"}).out);
  EXPECT_EQ(json["format"], "safetensors");
  EXPECT_EQ(json["tensors"][0]["shape"], nlohmann::json({4, 2}));
  const auto stats =
      nlohmann::json::parse(run_sheaf({"inspect", model + ":data", "--stats", "--json"}).out);
  EXPECT_EQ(
      stats["stats"],
      nlohmann::json({{"count", 8}, {"nan", 0}, {"min", 0.0}, {"max", 31.0}, {"mean", 15.5}}));
  EXPECT_EQ(run_sheaf({"inspect", scratch_.path("missing")}).status, 1);
}

TEST_F(Files, HeadPrintsRows) {
  EXPECT_EQ(run_sheaf({"head", table_, "2"}).out,
            "data  f32[4, 2]\n[0]  0  1\n[1]  10  11\n… 2 more\n");
}

TEST_F(Files, ConvertGoesRound) {
  SKIP_WITHOUT("json");
  SKIP_WITHOUT("zlib");
  std::string from = table_;
  for (const char* name : {"a.npz", "a.safetensors", "a.onnx", "b.npy"}) {
    const Finished run = run_sheaf({"convert", from, scratch_.path(name)});
    ASSERT_EQ(run.status, 0) << run.err;
    from = scratch_.path(name);
  }
  EXPECT_EQ(read_all(from), read_all(table_));
}

TEST_F(Files, ExplainDraws) {
  const std::string svg = scratch_.path("x.svg");
  EXPECT_EQ(run_sheaf({"explain", "gather f32[3] i64[2]={2,0}", "--svg", svg}).status, 0);
  const std::string text = read_all(svg);
  EXPECT_THAT(text,
              StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sheaf\" viewBox="));
  EXPECT_THAT(text, HasSubstr("<rect"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\033")));
}

TEST_F(Files, CompletionsKnowEverySubcommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = run_sheaf({"completion", shell}).out;
    for (const char* word : {"gather_nd", "inspect", "completion", "out-of-range"}) {
      EXPECT_THAT(text, HasSubstr(word)) << shell;
    }
  }
}

}  // namespace
