// SPDX-License-Identifier: MIT
//
// sheaf explain 'bag …' and sheaf bag.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/scratch.h"
#include "program.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace sheaf;

Finished explained(const std::string& problem, const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"explain", problem};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_sheaf(arguments);
}

// The refusal of a problem string, without what could stand there instead.
std::string refused(const std::string& problem) {
  const Finished run = explained(problem);
  EXPECT_EQ(run.status, 1);
  return run.err.substr(0, run.err.find("\n  try: "));
}

TEST(ExplainBag, RefusesWithACaret) {
  EXPECT_THAT(refused("bag f33[5,2] i64[3]"),
              HasSubstr("problem: unknown element type\n"
                        "  \"f33\" at column 5 names no type and no encoding\n"
                        "  bag f33[5,2] i64[3]\n"
                        "      ^^^"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] offset=i64[2]"),
              HasSubstr("\"offset\" at column 21 is no attribute of bag; did you mean offsets?"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] pool=add"),
              HasSubstr("\"add\" at column 26 names no pool"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] pool=sum pool=max offsets=i64[1]"),
              HasSubstr("attribute given twice"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] offsets=i64[2] lengths=i64[2]"),
              HasSubstr("segments given twice"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] offsets=i64[2] fill_value=3"),
              HasSubstr("fill_value is never used"));
  EXPECT_THAT(refused("bag u4[5,2] i64[3] offsets=i64[2] scales=f32[1]={1}"),
              HasSubstr("values of an encoded table"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] offsets=i64[2] output=f23"),
              HasSubstr("\"f23\" at column 43 names no type"));
  EXPECT_THAT(refused("bag"), HasSubstr("data is missing"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3] ="), HasSubstr("unknown attribute"));
}

TEST(ExplainBag, ShapesSegmentsAndIndicesGetTheLibrarysText) {
  EXPECT_THAT(refused("bag f32[5,2] i64[3]"), StartsWith("bag: ranks differ\n"));
  EXPECT_THAT(refused("bag q4_0[5,33] i64[3] offsets=i64[2]"), HasSubstr("rows of another length"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3]={0,1,2} offsets=i64[2]={0,7}"),
              StartsWith("bag: segments do not fit\n  offsets[1] = 7, but no bag begins behind"));
  EXPECT_THAT(refused("bag f32[5,2] i64[3]={0,1,9} offsets=i64[2]={0,1}"),
              StartsWith("bag: index out of range\n  indices[2] = 9"));
}

TEST(ExplainBag, DrawsRowsThatGoIntoBags) {
  const Finished run =
      explained("bag f32[5,2] i64[6]={4,0,2,2,1,3} offsets=i64[3]={0,2,3} pool=mean");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("bag: rows of data, picked by index and pooled\n"
                                  "  output[s, …] = mean of data[indices[p], …] for p in "
                                  "offsets[s]..offsets[s + 1]\n"
                                  "  data f32[5, 2]   indices i64[6]   offsets i64[3]   output "
                                  "f32[3, 2]   pool mean\n"
                                  "  negative indices count from the end; out of range: fail\n"));
  EXPECT_THAT(run.out, HasSubstr("0 │ 4  0"));
  EXPECT_THAT(run.out, HasSubstr("(i+a)/2"));
  EXPECT_THAT(run.out, HasSubstr("(e+c+g)/3"));
  EXPECT_THAT(run.out, HasSubstr("  for s in 0..3\n      for p in offsets[s]..offsets[s + 1]\n"));
  EXPECT_THAT(run.out, HasSubstr("  * cpu.bag   runs this plan\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("made up")));
}

TEST(ExplainBag, ShowsValuesWeightsAndWhatIsLeftOut) {
  const Finished values = explained(
      "bag f32[3,1]={1,10,100} i64[4]={2,0,7,1} lengths=i64[2]={1,3} out_of_range=skip "
      "weights=f32[4]={2,1,1,3}");
  EXPECT_EQ(values.status, 0) << values.err;
  EXPECT_THAT(values.out, HasSubstr("200"));
  EXPECT_THAT(values.out, HasSubstr("31"));
  EXPECT_THAT(values.out, HasSubstr("(7)"));
  const Finished terms = explained(
      "bag f32[3,1] i64[2,2]={2,0,9,1} out_of_range=fill fill_value=5 pool=max weights=f32[2,2]");
  EXPECT_THAT(terms.out, HasSubstr("max(w0·c,w1·a)"));
  EXPECT_THAT(terms.out, HasSubstr("max(w2·5,w3·b)"));
  const Finished rows = explained("bag f32[6,1] ids=i64[6]={0,0,0,0,0,2} bags=3 pool=sqrtn");
  EXPECT_THAT(rows.out, HasSubstr("(a+b+c+d+…)/√5"));
  EXPECT_THAT(rows.out, HasSubstr("rows, by bag"));
  EXPECT_THAT(explained("bag f32[3,1] i64[2]={1,1} offsets=i64[1] pool=mul").out, HasSubstr("b*b"));
  EXPECT_THAT(
      explained("bag f32[3,1] i64[2]={1,1} offsets=i64[2]={0,2} padding_index=1 empty_value=7").out,
      HasSubstr("7"));
}

TEST(ExplainBag, MakesUpWhatIsMissing) {
  for (const char* const form : {"offsets=i64[2]", "lengths=i32[2]", "ids=u8[5] bags=2"}) {
    const Finished run = explained(std::string("bag row_u8_f32[4,3] i64[5] ") + form);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("(made up; give your own")) << form;
  }
  const Finished large =
      explained("bag u4[1000000,64] i64[4096,20] scales=f16[1000000,2] block=32");
  EXPECT_THAT(large.out, HasSubstr("no picture"));
  EXPECT_THAT(large.out, HasSubstr("rows of 64 u4"));
  EXPECT_THAT(large.out, HasSubstr("cpu.bag_rows   runs this plan"));
}

TEST(ExplainBag, ListsKernels) {
  const Finished run = explained("bag f32[9,4] i64[3,2] out_of_range=fill", {"--kernels"});
  EXPECT_THAT(run.out, HasSubstr("refuses: rows of a fill value are in no table"));
  EXPECT_THAT(run.out, HasSubstr("  * cpu.bag_rows      runs this plan"));
  EXPECT_THAT(run.out, HasSubstr("could, but is asked later"));
}

TEST(ExplainBag, PrintsJson) {
  const Finished run = explained("bag f32[9,4] i64[3,2] pool=max", {"--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["op"], "bag");
  EXPECT_EQ(json["plan"]["pool"], "max");
  EXPECT_EQ(json["kernel"], "cpu.bag");
  EXPECT_EQ(json["bytes_read"], 6 * (16 + 8));
  EXPECT_EQ(json["bytes_written"], 48);
}

TEST(ExplainBag, WritesSvg) {
  const Finished run = explained("bag f32[5,2] i64[6] offsets=i64[3]", {"--svg", "-"});
  EXPECT_THAT(run.out, StartsWith("<svg "));
  EXPECT_THAT(run.out, HasSubstr("<rect "));
  const Finished large = explained("bag f32[5,200] i64[6] offsets=i64[3]", {"--svg", "-"});
  EXPECT_EQ(large.status, 1);
  EXPECT_THAT(large.err, StartsWith("explain: no picture\n"));
}

class BagFiles : public testing::Test {
 protected:
  BagFiles() {
    const std::vector<float> values = {0, 1, 10, 11, 20, 21, 30, 31};
    table_ = scratch_.path("table.npy");
    save(table_, "", view(values, {4, 2}));
  }
  std::vector<float> pooled(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bag", table_});
    arguments.insert(arguments.end(), {"-o", scratch_.path("out.npy")});
    const Finished run = run_sheaf(arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    const Array array = open_table(scratch_.path("out.npy")).load();
    const auto all = array.elements<float>();
    return {all.begin(), all.end()};
  }
  Scratch scratch_;
  std::string table_;
};

TEST_F(BagFiles, PoolsRows) {
  EXPECT_THAT(pooled({"3,1,0", "--offsets", "0,2"}), ElementsAre(40, 42, 0, 1));
  EXPECT_THAT(pooled({"3,1,0", "--offsets", "0,2,3", "--last-offset"}), ElementsAre(40, 42, 0, 1));
  EXPECT_THAT(pooled({"3,1;2,2", "--pool", "mean"}), ElementsAre(20, 21, 20, 21));
  EXPECT_THAT(pooled({"3,1,0", "--lengths", "1,2", "--pool", "max"}), ElementsAre(30, 31, 10, 11));
  EXPECT_THAT(pooled({"3,1,0", "--ids", "0,0,1", "--bags", "2", "--weights", "1,2,3"}),
              ElementsAre(50, 53, 0, 3));
  EXPECT_THAT(pooled({"3,1,9", "--offsets", "0", "--out-of-range", "skip", "--padding-index", "1"}),
              ElementsAre(30, 31));
}

TEST_F(BagFiles, RefusesWhatDoesNotFit) {
  const std::string out = scratch_.path("out.npy");
  EXPECT_EQ(run_sheaf({"bag", table_, "3,1", "--offsets", "0", "--lengths", "2", "-o", out}).status,
            2);
  EXPECT_EQ(run_sheaf({"bag", table_, "3,1", "--offsets", "0"}).status, 2);
  EXPECT_EQ(run_sheaf({"bag", table_, "3,1", "--offsets", "0", "--pool", "add", "-o", out}).status,
            2);
  const Finished outside = run_sheaf({"bag", table_, "3,9", "--offsets", "0", "-o", out});
  EXPECT_EQ(outside.status, 1);
  EXPECT_THAT(outside.err, StartsWith("bag: index out of range\n"));
  EXPECT_EQ(run_sheaf({"bag", table_, "3,1", "--offsets", "0", "-o", table_}).status, 1);
}

}  // namespace
