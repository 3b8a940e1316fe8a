// SPDX-License-Identifier: MIT
//
// Tensors that one dispatch cannot number are cut into several, and numbered in 64 bits; so are
// lists of updates to one cell and bags of many entries. Here that begins at a few pieces.
#include <gtest/gtest.h>

#include "backends/vulkan/tuning.h"
#include "helpers/bag_device.h"
#include "helpers/device.h"
#include "helpers/device_check.h"
#include "helpers/random_cases.h"

namespace sheaf {
namespace {

class VulkanCut : public DeviceTest, public testing::WithParamInterface<int64_t> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    vulkan::tuning::most_pieces = GetParam();
    vulkan::tuning::most_in_order = GetParam();
    vulkan::tuning::most_segments = GetParam();
  }
  void TearDown() override {
    vulkan::tuning::most_pieces = usual_pieces_;
    vulkan::tuning::most_in_order = usual_in_order_;
    vulkan::tuning::most_segments = usual_segments_;
  }

 private:
  int64_t usual_pieces_ = vulkan::tuning::most_pieces;
  int64_t usual_in_order_ = vulkan::tuning::most_in_order;
  int64_t usual_segments_ = vulkan::tuning::most_segments;
};

TEST_P(VulkanCut, Gathers) {
  for (uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    run_random_gather(gpu(), seed, 100);
  }
}

TEST_P(VulkanCut, Scatters) {
  for (uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    run_random_scatter(gpu(), seed, 60);
  }
}

TEST_P(VulkanCut, Bags) {
  Rng rng(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const BagProblem problem = random_bag(rng);
    const BagResult result = on_device(problem, "vulkan.bag", i % 2 == 0);
    EXPECT_TRUE(result == problem.on_reference()) << result.error << problem.text();
  }
}

// Long ones side by side, alone, and between short ones and empty ones; segments in every form.
TEST_P(VulkanCut, LongBags) {
  Rng rng(3);
  for (const std::vector<int64_t>& lengths : std::vector<std::vector<int64_t>>{
           {200}, {100, 100}, {7, 7, 8, 64, 65}, {0, 0, 30, 0, 1, 66, 0, 128, 0}, {1, 2, 99, 3}}) {
    int64_t entries = 0;
    for (const int64_t length : lengths) {
      entries += length;
    }
    for (const auto form : {SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds}) {
      BagProblem problem;
      problem.specs.data = encoded_rows(Encoding::kRowU8F32, {30, 5});
      problem.specs.indices = TensorSpec(i64, {entries});
      const std::vector<int64_t> segments = segments_of(lengths, form, false);
      problem.specs.segments = TensorSpec(i64, {static_cast<int64_t>(segments.size())});
      problem.options = {.pool = Pool::kMean, .segments = form, .output_type = f16};
      problem.options.bags = form == SegmentForm::kIds ? static_cast<int64_t>(lengths.size()) : -1;
      problem.make_tensors(rng);
      problem.segments.set_all(segments);
      const BagResult result = on_device(problem, "vulkan.bag");
      EXPECT_TRUE(result == problem.on_reference()) << result.error << problem.text();
      problem.segments.set(0, -3);
      EXPECT_TRUE(on_device(problem, "vulkan.bag") == problem.on_reference()) << problem.text();
      problem.segments.set_all(segments);
      problem.segments.set(static_cast<int64_t>(segments.size()) - 1, 201);
      EXPECT_TRUE(on_device(problem, "vulkan.bag") == problem.on_reference()) << problem.text();
    }
  }
}

// The first of them in an early dispatch, a late one, and several.
TEST_P(VulkanCut, BadIndices) {
  for (const int64_t first : {0, 1, 8, 29}) {
    const auto index = [=](int64_t number) {
      return oracle::Wide{number >= first && number % 7 == first % 7 ? -9 : number % 3};
    };
    DeviceCheck{plan_gather({f32, {3}}, {i32, {30}}), index}.run();
    DeviceCheck{plan_gather({u8, {3, 5}}, TensorSpec(i64, {5, 30}, {0, 1})), index}.run();
  }
}

INSTANTIATE_TEST_SUITE_P(Pieces, VulkanCut, testing::Values(7, 64));

}  // namespace
}  // namespace sheaf
