// SPDX-License-Identifier: MIT
//
// Bags on the GPU that are refused: in the words of the host, with the output untouched.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "helpers/bag_device.h"
#include "helpers/device.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

class CudaBagHostile : public DeviceTest {};

// Ten entries in four bags, with segments as they are given.
BagProblem problem_of(SegmentForm form, const std::vector<int64_t>& segments, DType type = i64,
                      bool last = false, int64_t columns = 4) {
  Rng rng(1);
  BagProblem problem;
  problem.specs.data = TensorSpec(f32, {20, columns});
  problem.specs.indices = TensorSpec(i64, {10});
  problem.specs.segments = TensorSpec(type, {static_cast<int64_t>(segments.size())});
  problem.options.segments = form;
  problem.options.last_offset = last;
  problem.options.bags = form == SegmentForm::kIds ? 4 : -1;
  problem.make_tensors(rng);
  problem.segments.set_all(segments);
  return problem;
}

void expect_the_same_refusal(const BagProblem& problem) {
  const BagResult right = problem.on_reference();
  EXPECT_NE(right.error, "");
  for (const char* const kernel : {"cuda.bag_rows", "cuda.bag_elements"}) {
    const BagResult result = on_device(problem, kernel);
    EXPECT_EQ(result.error, right.error);
    EXPECT_TRUE(result.output == right.output) << "the output was touched";
  }
}

constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;

TEST_F(CudaBagHostile, Offsets) {
  for (const std::vector<int64_t>& offsets : std::vector<std::vector<int64_t>>{{1, 3, 5, 7},
                                                                               {-1, 3, 5, 7},
                                                                               {0, 5, 3, 7},
                                                                               {0, 3, 11, 12},
                                                                               {0, 3, kMost, kMost},
                                                                               {0, kLeast, 3, 4},
                                                                               {0, 3, 5, 11},
                                                                               {0, 11, 5, 7},
                                                                               {0, 4, -1, 7},
                                                                               {kMost, 0, 0, 0}}) {
    expect_the_same_refusal(problem_of(SegmentForm::kOffsets, offsets));
    std::vector<int64_t> with_last = offsets;
    with_last.push_back(10);
    expect_the_same_refusal(problem_of(SegmentForm::kOffsets, with_last, i64, true));
    expect_the_same_refusal(problem_of(SegmentForm::kOffsets, offsets, i64, false, 0));
  }
  expect_the_same_refusal(problem_of(SegmentForm::kOffsets, {0, 3, 5, 7, 11}, i64, true));
  expect_the_same_refusal(problem_of(SegmentForm::kOffsets, {0, 3, 5, 7, 6}, i64, true));
  expect_the_same_refusal(problem_of(SegmentForm::kOffsets, {0, -1, 5, 7}, u64));
}

TEST_F(CudaBagHostile, Lengths) {
  for (const std::vector<int64_t>& lengths :
       std::vector<std::vector<int64_t>>{{3, 3, 3, 3},
                                         {3, 3, 3, 0},
                                         {-1, 4, 4, 3},
                                         {kMost, kMost, 2, 12},
                                         {10, 0, kMost, 1},
                                         {0, 0, 0, 0},
                                         {kLeast, kLeast, 0, 10},
                                         {4, 7, -1, 0},
                                         {2, 2, 2, kMost}}) {
    expect_the_same_refusal(problem_of(SegmentForm::kLengths, lengths));
    expect_the_same_refusal(problem_of(SegmentForm::kLengths, lengths, u64));
    expect_the_same_refusal(problem_of(SegmentForm::kLengths, lengths, i64, false, 0));
  }
}

TEST_F(CudaBagHostile, Ids) {
  for (const std::vector<int64_t>& ids :
       std::vector<std::vector<int64_t>>{{0, 0, 1, 1, 1, 0, 2, 3, 3, 3},
                                         {0, 0, 1, 1, 1, 1, 2, 3, 3, 4},
                                         {-1, 0, 1, 1, 1, 1, 2, 3, 3, 3},
                                         {3, 2, 1, 0, 1, 1, 2, 3, 3, 3},
                                         {0, kMost, 1, 1, 1, 1, 2, 3, 3, 3},
                                         {kLeast, 0, 0, 0, 0, 0, 0, 0, 0, 0}}) {
    expect_the_same_refusal(problem_of(SegmentForm::kIds, ids));
    expect_the_same_refusal(problem_of(SegmentForm::kIds, ids, u64));
  }
}

// The first of many, in a part that other blocks look at.
TEST_F(CudaBagHostile, TheFirstOfManySegments) {
  Rng rng(2);
  std::vector<int64_t> offsets(100'000);
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<int64_t>(i);
  }
  BagProblem problem;
  problem.specs.data = TensorSpec(f32, {20, 4});
  problem.specs.indices = TensorSpec(i64, {100'000});
  problem.specs.segments = TensorSpec(i64, {100'000});
  problem.make_tensors(rng);
  for (const int64_t at : {99'999, 70'000, 33'333, 1}) {
    offsets[static_cast<size_t>(at)] = -at;
    problem.segments.set_all(offsets);
    expect_the_same_refusal(problem);
  }
}

TEST_F(CudaBagHostile, Indices) {
  for (const int64_t bad : {int64_t{20}, int64_t{-21}, kMost, kLeast}) {
    for (const int64_t at : {0, 5, 9}) {
      BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7});
      problem.indices.set(at, bad);
      expect_the_same_refusal(problem);
      const std::string right = problem.on_reference().error;
      EXPECT_EQ(on_device(problem, "cuda.bag_rows", true).error, right);
      EXPECT_EQ(on_device(problem, "cuda.bag_elements", true).error, right);
    }
  }
}

// An entry behind the last offset is in no bag; its index is checked all the same.
TEST_F(CudaBagHostile, AnIndexInNoBag) {
  BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7, 8}, i64, true);
  problem.indices.set(9, 20);
  expect_the_same_refusal(problem);
  EXPECT_EQ(on_device(problem, "cuda.bag_rows", true).error, problem.on_reference().error);
}

// Segments are named before indices, as on the host.
TEST_F(CudaBagHostile, SegmentsAndIndices) {
  BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 5, 3, 7});
  problem.indices.set(2, 20);
  expect_the_same_refusal(problem);
}

TEST_F(CudaBagHostile, Workspace) {
  const BagPlan plan = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7}).plan();
  const size_t needed = workspace_bytes(plan, {.device = "cuda"});
  DeviceMemory memory("cuda", needed);
  std::vector<std::byte> host(1024);  // nothing of it is read
  const BagMemory somewhere{.stored = host.data(),
                            .indices = host.data() + 320,
                            .segments = host.data() + 400,
                            .output = host.data() + 512};
  const std::string text = refusal([&] {
    run(plan, somewhere, {.device = "cuda", .workspace = {memory.data(), needed - 1}});
  });
  EXPECT_NE(text.find("workspace too small"), std::string::npos) << text;
  EXPECT_NE(refusal([&] { finish(plan, {.device = "cuda"}); }).find("no verdict to read"),
            std::string::npos);
}

// That a capture succeeds shows that a run neither allocates nor waits.
TEST_F(CudaBagHostile, RunsInAGraph) {
  BagProblem problem = problem_of(SegmentForm::kLengths, {3, 3, 0, 4});
  const BagPlan plan = problem.plan();
  DeviceMemory stored("cuda", problem.stored.bytes.size());
  DeviceMemory indices("cuda", problem.indices.bytes.size());
  DeviceMemory segments("cuda", problem.segments.bytes.size());
  DeviceMemory output("cuda", 64);
  DeviceMemory workspace("cuda", workspace_bytes(plan, {.device = "cuda"}));
  stored.upload(problem.stored.bytes.data(), stored.bytes());
  indices.upload(problem.indices.bytes.data(), indices.bytes());
  const DeviceStream stream;
  const Queue queue{.device = "cuda", .stream = stream, .workspace = workspace};
  const auto record = [&] {
    run(plan,
        {.stored = stored.data(),
         .indices = indices.data(),
         .segments = segments.data(),
         .output = output.data()},
        queue);
  };
  const DeviceGraph graph(stream, record);
  for (const std::vector<int64_t>& lengths :
       std::vector<std::vector<int64_t>>{{3, 3, 0, 4}, {10, 0, 0, 0}, {9, 0, 0, 0}, {1, 2, 3, 4}}) {
    problem.segments.set_all(lengths);
    segments.upload(problem.segments.bytes.data(), segments.bytes());
    output.fill(std::byte{0xA5}, output.bytes());
    graph.launch(stream);
    BagResult result;
    try {
      finish(plan, queue);
    } catch (const Error& error) {
      result.error = error.what();
    }
    result.output.resize(output.bytes());
    output.download(result.output.data(), output.bytes());
    EXPECT_TRUE(result == problem.on_reference()) << result.error;
  }
}

}  // namespace
}  // namespace sheaf
