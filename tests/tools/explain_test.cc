// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "program.h"
#include "sheaf/cuda.h"
#include "sheaf/sheaf.h"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Explain, BadProblemsAreStatusOneWithACaret) {
  const Finished run = run_sheaf({"explain", "gather f32[3,5] i46[4]"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("problem: unknown element type\n"
                                 "  \"i46\" at column 17 names no type\n"
                                 "  gather f32[3,5] i46[4]\n"
                                 "                  ^^^\n"));
}

TEST(Explain, ShapesThatDoNotFitGetTheLibrarysText) {
  const Finished run = run_sheaf({"explain", "gather_elements f32[3,5] i64[4]"});
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(run.err.starts_with("gather_elements: ranks differ\n")) << run.err;
}

TEST(Explain, BadIndicesAreDrawnAndGetTheLibrarysText) {
  const Finished run = run_sheaf({"explain", "gather f32[5,2] i64[3]={4,9,-7}"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("  │   4   !9  !-7\n"));
  EXPECT_THAT(run.err,
              HasSubstr("gather: index out of range\n"
                        "  indices[1] = 9, but axis 0 of data has 5 entries (allowed -5..4); "
                        "2 of 3 indices are out of range\n"));
}

TEST(Explain, DrawsGatherElements) {
  const Finished run =
      run_sheaf({"explain", "gather_elements f32[3,3] u32[2,3]={1,2,0,2,0,0} axis=0"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.out.starts_with(
      "gather_elements: each output element has an index of its own\n"
      "  output[i, j] = data[indices[i, j], j]\n"
      "  data f32[3, 3]   indices u32[2, 3]   axis 0   output f32[2, 3]\n"
      "  negative indices count from the end; out of range: fail\n"
      "\n"
      "data f32[3, 3], axis 0 ↓    indices u32[2, 3]    output f32[2, 3]\n"
      "     0  1  2                     0  1  2              0  1  2\n"
      " 0 │ a  b  c                 0 │ 1  2  0          0 │ d  h  c\n"
      " 1 │ d  e  f                 1 │ 2  0  0          1 │ g  b  c\n"
      " 2 │ g  h  i\n"
      "\n"
      "for example  output[0, 0] = data[1, 0]   because indices[0, 0] = 1\n"
      "\n"
      "plan (moves 24 bytes)\n"
      "  gather, 4 bytes per step, u32 indices, negative from_end, out of range fail\n"))
      << run.out;
  EXPECT_THAT(run.out, HasSubstr("   runs this plan\n"));
}

TEST(Explain, DrawsScatters) {
  const Finished run = run_sheaf(
      {"explain", "scatter f32[3,2] i64[3]={2,0,5} axis=0 reduction=add out_of_range=skip", "--map",
       "--limit", "5"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with(
      "scatter: each index says where a slice of the updates goes along one axis\n"
      "  output[indices[i], j] += updates[i, j]\n"
      "  data f32[3, 2]   indices i64[3]   updates f32[3, 2]   axis 0   reduction add   output "
      "f32[3, 2]\n"
      "  negative indices count from the end; out of range: skip\n"
      "\n"
      "updates f32[3, 2]    indices i64[3]    output f32[3, 2], axis 0 ↓\n"))
      << run.out;
  EXPECT_THAT(run.out, HasSubstr(" 2 │ (e)  (f)"));
  EXPECT_THAT(run.out, HasSubstr("element map\n"
                                 "  updates[0, 0] goes to output[2, 0]   because indices[0] = 2\n"
                                 "  updates[0, 1] goes to output[2, 1]   because indices[0] = 2\n"
                                 "  updates[1, 0] goes to output[0, 0]   because indices[1] = 0\n"
                                 "  updates[1, 1] goes to output[0, 1]   because indices[1] = 0\n"
                                 "  updates[2, 0] is skipped   because indices[2] = 5\n"
                                 "  … 1 more; --limit shows them\n"));
  EXPECT_THAT(run.out, HasSubstr("plan (moves 24 bytes)\n  scatter add f32, 8 bytes per step"));
}

TEST(Explain, PrintsJsonOfScatters) {
  const Finished run =
      run_sheaf({"explain", "scatter f32[2,2] i64[2]={1,7} out_of_range=skip", "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["op"], "scatter");
  EXPECT_EQ(json["map"],
            nlohmann::json::parse(R"([{"output": 2, "index": 0}, {"output": 3, "index": 0},
      {"output": null, "index": 1}, {"output": null, "index": 1}])"));
}

TEST(Explain, BadIndicesOfScattersAreDrawn) {
  const Finished run = run_sheaf({"explain", "scatter f32[5,2] i64[3]={4,9,-7}"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("  │   4   !9  !-7\n"));
  EXPECT_THAT(run.err, HasSubstr("scatter: index out of range\n"));
  EXPECT_THAT(run.err, EndsWith("\n  try: out_of_range=clamp or out_of_range=skip\n"));
}

// tests/python/test_explain.py compares Python with the same files. After a change of the renderer:
//   sheaf explain PROBLEM --svg tests/cases/pictures/NAME.svg
TEST(Explain, DrawsThePicturesThatPythonDraws) {
  const std::string folder = SHEAF_PICTURES;
  const auto content = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto calls = nlohmann::json::parse(content(folder + "/calls.json"));
  EXPECT_GE(calls.size(), 5U);
  for (const auto& call : calls) {
    const Finished run = run_sheaf({"explain", call["problem"], "--svg", "-"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.out, content(folder + "/" + std::string(call["picture"]))) << call["picture"];
  }
}

TEST(Explain, TakesTheNamesOfOtherLibraries) {
  const Finished run =
      run_sheaf({"explain", "torch.index_select f32[3,3] i64[2,2]={2,0,1,1} dim=1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with(
      "torch.index_select(data, dim=1, index=indices)\n"
      "gather: each index picks a whole slice of data along one axis\n"
      "  output[i, j, k] = data[i, indices[j, k]]\n"
      "  data f32[3, 3]   indices i64[2, 2]   axis 1   output f32[3, 2, 2]\n"
      "  negative indices are out of range; out of range: fail\n"
      "  torch.index_select refuses this: indices have 2 dimensions, and it takes 0 or 1 "
      "dimensions.\n"
      "\n"))
      << run.out;
  const auto json = nlohmann::json::parse(
      run_sheaf({"explain", "F.embedding f32[3,3] i64[2]={2,0} axis=1", "--json"}).out);
  EXPECT_EQ(json["name"], "torch.nn.functional.embedding");
  EXPECT_EQ(json["call"], "torch.nn.functional.embedding(indices, data)");
  EXPECT_EQ(json["objections"], nlohmann::json::parse(R"([{"refuses": true, "text":
      "torch.nn.functional.embedding refuses this: axis=1, and it has no axis."}])"));
  EXPECT_THAT(run_sheaf({"explain", "--names"}).out,
              HasSubstr("\nPyTorch\n  torch.gather                  gather_elements\n"));
  EXPECT_THAT(run_sheaf({"explain", "torch.gathr f32[3,3] i64[2,2]"}).err,
              HasSubstr("names no operator; did you mean torch.gather?\n"));
}

TEST(Explain, DoesNotComputeHugeResults) {
  const Finished run =
      run_sheaf({"explain", "scatter f32[1099511627776] i64[1]={7} f32[1]={5} onto_zeros=1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("updates[0] goes to output[7]   because indices[0] = 7\n"));
}

TEST(Explain, TakesAProblemAsSeveralArguments) {
  const Finished run = run_sheaf({"explain", "gather", "f32[4]", "i64[2]={3,0}", "axis=0"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("  │ d  a\n"));
}

TEST(Explain, MakesUpIndicesForSmallShapesAndSaysSo) {
  const Finished run = run_sheaf({"explain", "gather_nd f32[3,4] i8[2,2]"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("(these indices are made up; give your own"));
}

TEST(Explain, CutsWhatIsWide) {
  const Finished run = run_sheaf({"explain", "gather f32[1000000,64] i64[2]={999999,0} axis=0"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("… 999,988 more rows, 52 more columns\n"));
  for (size_t begin = 0; begin < run.out.find("\nplan");) {
    const size_t end = run.out.find('\n', begin);
    const std::string line = run.out.substr(begin, end - begin);
    EXPECT_LE(line.size(), 84U) << line;  // 80 columns, and UTF-8
    begin = end + 1;
  }
}

TEST(Explain, RefusesToDrawWhatIsHuge) {
  const Finished made_up = run_sheaf({"explain", "gather f32[1000000,64] i64[4096]"});
  EXPECT_EQ(made_up.status, 0);
  EXPECT_THAT(made_up.out, HasSubstr("no picture: give indices values"));
  const Finished given = run_sheaf({"explain", "gather f32[2,1099511627776] i64[1]={0}"});
  EXPECT_EQ(given.status, 0);
  EXPECT_THAT(given.out, HasSubstr("no picture: the output has 1,099,511,627,776 elements"));
}

TEST(Explain, ListsTheMapUpToALimit) {
  const std::string problem = "gather f32[2,3] i64[2]={1,5} out_of_range=fill fill_value=-1";
  EXPECT_THAT(run_sheaf({"explain", problem, "--map", "--limit", "4"}).out,
              HasSubstr("element map\n"
                        "  output[0, 0] = data[1, 0]   because indices[0] = 1\n"
                        "  output[0, 1] = data[1, 1]   because indices[0] = 1\n"
                        "  output[0, 2] = data[1, 2]   because indices[0] = 1\n"
                        "  output[1, 0] = fill_value -1   because indices[1] = 5\n"
                        "  … 2 more; --limit shows them\n"));
}

TEST(Explain, ListsKernelsWithTheirReasons) {
  const Finished run = run_sheaf({"explain", "gather f32[9,64] i64[4]", "--kernels"});
  EXPECT_THAT(run.out, HasSubstr("reference.loops"));
  EXPECT_THAT(run.out, HasSubstr("runs this plan"));
  const Finished forced =
      run_sheaf({"explain", "gather f32[9,64] i64[4]"}, "SHEAF_KERNEL=reference");
  EXPECT_THAT(forced.out, EndsWith("\nkernel\n  * reference.loops   runs this plan\n"));
}

TEST(Explain, ListsKernelsOfTheDevice) {
  const std::string problem = "gather f32[9,64] i64[4]";
  std::vector<sheaf::KernelReport> kernels;
  if (sheaf::cuda::available()) {
    kernels =
        sheaf::cuda::kernels_for(sheaf::plan_gather({sheaf::f32, {9, 64}}, {sheaf::i64, {4}}));
  }
  const std::string listed = run_sheaf({"explain", problem, "--kernels"}).out;
  const auto json = nlohmann::json::parse(run_sheaf({"explain", problem, "--json"}).out);
  EXPECT_EQ(listed.find("\nkernel on cuda\n") != std::string::npos, !kernels.empty());
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_THAT(listed, HasSubstr(kernels[i].name));
    EXPECT_EQ(json["devices"]["cuda"]["kernels"][i]["name"], kernels[i].name);
  }
  EXPECT_EQ(json.contains("devices"), !sheaf::device_names().empty());
  EXPECT_THAT(run_sheaf({"explain", problem}).out, Not(HasSubstr("cuda")));
}

TEST(Explain, PrintsJson) {
  const Finished run =
      run_sheaf({"explain", "gather f32[2,2] i64[2]={1,7} out_of_range=fill", "--json"});
  EXPECT_EQ(run.status, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["op"], "gather");
  EXPECT_EQ(json["formula"], "output[i, j] = data[indices[i], j]");
  EXPECT_EQ(json["bytes_moved"], 16);
  EXPECT_EQ(json["plan"]["row_bytes"], 8);
  EXPECT_EQ(json["kernels"].back()["name"], "reference.loops");
  EXPECT_EQ(json["map"], nlohmann::json::parse(R"([{"data": 2, "index": 0}, {"data": 3, "index": 0},
      {"data": null, "index": 1}, {"data": null, "index": 1}])"));
  EXPECT_EQ(json["map_left_out"], 0);
}

TEST(Explain, LeavesMadeUpIndicesOutOfJson) {
  EXPECT_FALSE(nlohmann::json::parse(run_sheaf({"explain", "gather f32[2] i64[1]", "--json"}).out)
                   .contains("map"));
}

TEST(Explain, ColorsOnlyWhereTheyAreWanted) {
  const std::string problem = "gather f32[3] i64[2]={1,0}";
  EXPECT_THAT(run_sheaf({"explain", problem}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_sheaf({"explain", problem, "--color", "never"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_sheaf({"explain", problem, "--color=always"}).out, HasSubstr("\x1b[30;48;5;"));
}

// `script` gives the program a terminal.
TEST(Explain, ColorsATerminalUnlessNoColorIsSet) {
  if (std::system("script --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "the program `script` is not installed";
  }
  const std::string on_terminal =
      "script -qec \"env TERM=xterm $SETTING '" SHEAF_PROGRAM
      "' explain 'gather f32[3] i64[2]={1,0}'\" /dev/null | grep -q 'm a '";
  EXPECT_EQ(std::system(("SETTING=A=1; export SETTING; unset NO_COLOR; " + on_terminal).c_str()),
            0);
  EXPECT_NE(std::system(("SETTING=NO_COLOR=1; export SETTING; " + on_terminal).c_str()), 0);
}

}  // namespace
