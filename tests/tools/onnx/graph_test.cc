// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bytes.h"
#include "io/scratch.h"
#include "tools/program.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

constexpr uint64_t kInt32 = 6, kInt64 = 7;

// y = ScatterElements(Gather(table, ids), [0], [9], reduction = add)
std::string graph() {
  const std::string add = field(5, field(1, "reduction") + field(4, "add"));
  return node("Gather", {"table", "ids"}, "picked") +
         node("ScatterElements", {"picked", "where", "nine"}, "y", add) +
         field(5, tensor("table", kInt32, 3, bytes_of<int32_t>({1, 2, 3}))) +
         field(5, tensor("where", kInt64, 1, bytes_of<int64_t>({0}))) +
         field(5, tensor("nine", kInt32, 1, bytes_of<int32_t>({9}))) + field(11, field(1, "ids")) +
         field(12, field(1, "y"));
}

TEST(Run, RunsAModelOfGathersAndScatters) {
  const Scratch scratch;
  const std::string model = scratch.write("m.onnx", field(7, graph()));
  const std::vector<int64_t> ids = {2, 0};
  save(scratch.path("ids.npy"), "", view(ids));
  const std::string out = scratch.path("y.npy");
  const Finished run =
      run_sheaf({"run", model, "--input", "ids=" + scratch.path("ids.npy"), "-o", "y=" + out});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(open_table(out).load().elements<int32_t>(), ElementsAre(12, 1));
  EXPECT_THAT(run_sheaf({"run", model, "-o", "y=" + out}).err,
              HasSubstr("its input \"ids\" has no value"));
}

TEST(Run, NamesANodeThatIsNoneOfOurs) {
  const Scratch scratch;
  const std::string model = scratch.write("m.onnx", field(7, graph() + node("Conv", {"y"}, "z")));
  const Finished run = run_sheaf({"run", model, "-o", "z=" + scratch.path("z.npy")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err,
              HasSubstr("run: node \"n_Conv\" of type Conv\n  it neither moves data nor "
                        "changes its shape or type\n  try: a model of these nodes: Gather,"));
}

TEST(Check, RunsFoldersOfBackendTests) {
  const Scratch scratch;
  mkdir(scratch.path("good").c_str(), 0700);
  mkdir(scratch.path("good/test_data_set_0").c_str(), 0700);
  scratch.write("good/model.onnx", field(7, graph()));
  scratch.write("good/test_data_set_0/input_0.pb",
                tensor("ids", kInt64, 1, bytes_of<int64_t>({1})));
  scratch.write("good/test_data_set_0/output_0.pb",
                tensor("y", kInt32, 1, bytes_of<int32_t>({11})));
  mkdir(scratch.path("other").c_str(), 0700);
  scratch.write("other/model.onnx", field(7, node("Conv", {"x"}, "y")));
  Finished run = run_sheaf({"check", scratch.path("")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "skipped 1: node type Conv is none of ours\n1 passed, 0 failed, 1 skipped\n");
  scratch.write("good/test_data_set_0/output_0.pb",
                tensor("y", kInt32, 1, bytes_of<int32_t>({12})));
  run = run_sheaf({"check", scratch.path("good")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("element 0 of output y is 11, expected 12"));
  scratch.write("good/model.onnx", field(7, field(11, field(1, "ids")) + field(12, field(1, "y"))));
  EXPECT_THAT(run_sheaf({"check", scratch.path("good")}).out,
              HasSubstr("output y is not computed by the model"));
}

}  // namespace
