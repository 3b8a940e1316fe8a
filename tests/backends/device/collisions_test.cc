// SPDX-License-Identifier: MIT
//
// Many updates to few cells on a device: the bits of the plain loop, for every type and reduction.
// Relaxed, the order is free, which whole numbers do not show.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "helpers/colliding_updates.h"
#include "helpers/device.h"

namespace sheaf {
namespace {

class DeviceCollisions : public DeviceTest {};

TEST_F(DeviceCollisions, AllInOneCell) {
  check_collisions(gpu(), Collisions::kOneCell, 6000, 1, true);
  check_collisions(gpu(), Collisions::kOneCell, 1500, 5, false);
}
TEST_F(DeviceCollisions, AHundredCells) {
  check_collisions(gpu(), Collisions::kHundredCells, 6000, 1, true);
  check_collisions(gpu(), Collisions::kHundredCells, 1500, 5, false);
}
TEST_F(DeviceCollisions, ZipfsLaw) {
  check_collisions(gpu(), Collisions::kZipf, 6000, 1, false);
  check_collisions(gpu(), Collisions::kZipf, 1500, 5, true);
}
TEST_F(DeviceCollisions, RelaxedOnWholeNumbers) {
  for (const Collisions collisions :
       {Collisions::kOneCell, Collisions::kHundredCells, Collisions::kZipf}) {
    check_relaxed_collisions(gpu(), collisions, 6000, 1);
    check_relaxed_collisions(gpu(), collisions, 1500, 5);
  }
}

// The sum in another order, or in higher precision, has other bits.
TEST_F(DeviceCollisions, TheOrderOfASumIsThatOfTheUpdates) {
  const std::vector<float> data = {0}, updates = {1e8F, 1, -1e8F, 1};
  const std::vector<int32_t> indices(4, 0);
  const Plan plan =
      plan_scatter({f32, {1}}, {i32, {4}}, {f32, {4}}, {.reduction = Reduction::kAdd});
  for (const std::string& kernel : gpu().kernels(plan)) {
    std::vector<float> output(1);
    gpu().run(plan,
              {readable(data.data(), 4), readable(indices.data(), 16), readable(output.data(), 4),
               readable(updates.data(), 16)},
              {.kernel = kernel});
    EXPECT_EQ(output[0], 1.0F) << kernel << ": ((1e8 + 1) - 1e8) + 1 in f32";
  }
}

}  // namespace
}  // namespace sheaf
