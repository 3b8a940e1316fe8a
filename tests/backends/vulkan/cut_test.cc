// SPDX-License-Identifier: MIT
//
// Tensors that one dispatch cannot number are cut into several, and numbered in 64 bits; so are
// lists of updates to one cell. Here that begins at a few pieces.
#include <gtest/gtest.h>

#include "backends/vulkan/tuning.h"
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
  }
  void TearDown() override {
    vulkan::tuning::most_pieces = usual_pieces_;
    vulkan::tuning::most_in_order = usual_in_order_;
  }

 private:
  int64_t usual_pieces_ = vulkan::tuning::most_pieces;
  int64_t usual_in_order_ = vulkan::tuning::most_in_order;
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
