// SPDX-License-Identifier: MIT
//
// Bags on a device that are refused: in the words of the host, with the output untouched.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "execution/registry.h"
#include "helpers/bag_device.h"
#include "helpers/device.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

class DeviceBagHostile : public DeviceTest {};

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
  for (const BagKernel& kernel : device_backend(test_device()).bag) {
    const BagResult result = on_device(problem, kernel.name);
    EXPECT_EQ(result.error, right.error);
    EXPECT_TRUE(result.output == right.output) << "the output was touched";
  }
}

void expect_the_same_error_on_fresh(const BagProblem& problem) {
  for (const BagKernel& kernel : device_backend(test_device()).bag) {
    EXPECT_EQ(on_device(problem, kernel.name, true).error, problem.on_reference().error);
  }
}

constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;

TEST_F(DeviceBagHostile, Offsets) {
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

TEST_F(DeviceBagHostile, Lengths) {
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

TEST_F(DeviceBagHostile, Ids) {
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
TEST_F(DeviceBagHostile, TheFirstOfManySegments) {
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

TEST_F(DeviceBagHostile, Indices) {
  for (const int64_t bad : {int64_t{20}, int64_t{-21}, kMost, kLeast}) {
    for (const int64_t at : {0, 5, 9}) {
      BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7});
      problem.indices.set(at, bad);
      expect_the_same_refusal(problem);
      expect_the_same_error_on_fresh(problem);
    }
  }
}

// An entry behind the last offset is in no bag; its index is checked all the same.
TEST_F(DeviceBagHostile, AnIndexInNoBag) {
  BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7, 8}, i64, true);
  problem.indices.set(9, 20);
  expect_the_same_refusal(problem);
  expect_the_same_error_on_fresh(problem);
}

// Segments are named before indices, as on the host.
TEST_F(DeviceBagHostile, SegmentsAndIndices) {
  BagProblem problem = problem_of(SegmentForm::kOffsets, {0, 5, 3, 7});
  problem.indices.set(2, 20);
  expect_the_same_refusal(problem);
}

TEST_F(DeviceBagHostile, Workspace) {
  const BagPlan plan = problem_of(SegmentForm::kOffsets, {0, 3, 5, 7}).plan();
  const size_t needed = workspace_bytes(plan, {.device = test_device()});
  DeviceMemory memory(test_device(), needed);
  std::vector<std::byte> host(1024);  // nothing of it is read
  const BagMemory somewhere{.stored = host.data(),
                            .indices = host.data() + 320,
                            .segments = host.data() + 400,
                            .output = host.data() + 512};
  const std::string text = refusal([&] {
    run(plan, somewhere, {.device = test_device(), .workspace = {memory.data(), needed - 1}});
  });
  EXPECT_NE(text.find("workspace too small"), std::string::npos) << text;
  EXPECT_NE(refusal([&] { finish(plan, {.device = test_device()}); }).find("no verdict to read"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
