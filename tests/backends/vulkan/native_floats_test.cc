// SPDX-License-Identifier: MIT
//
// Sums and products by the hardware's own floats, and by integers where a device does not promise
// enough: of all pairs of numbers at the edges, with the bits of the reference backend.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/tuning.h"
#include "helpers/device.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

template <class Float, class Bits>
std::vector<Float> edge_floats() {
  using Limits = std::numeric_limits<Float>;
  const Float least = Limits::min(), tiny = Limits::denorm_min(), most = Limits::max();
  const Float one = 1;
  std::vector<Float> values = {0,
                               one,
                               3,
                               one / 3,
                               tiny,
                               3 * tiny,
                               least,
                               std::nextafter(least, Float{0}),
                               std::nextafter(least, one),
                               2 * least,
                               least / 2,
                               std::sqrt(least),
                               std::sqrt(tiny),
                               most,
                               most / 2,
                               std::nextafter(most, Float{0}),
                               std::nextafter(one, Float{2}),
                               std::nextafter(one, Float{0}),
                               Limits::epsilon(),
                               Limits::epsilon() / 2,
                               Limits::infinity(),
                               Limits::quiet_NaN()};
  for (uint64_t i = 0; i < 12; ++i) {
    values.push_back(std::bit_cast<Float>(static_cast<Bits>(i * 0x9E3779B97F4A7C15U)));
  }
  const size_t half = values.size();
  for (size_t i = 0; i < half; ++i) {
    values.push_back(-values[i]);
  }
  return values;
}

class VulkanNativeFloats : public DeviceTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    vulkan::tuning::native_floats = GetParam();
  }
  void TearDown() override { vulkan::tuning::native_floats = true; }

  // Cell i, a row of `columns` elements, becomes a[i] (reduced by) b[i]; with `repeats`, the cells
  // beyond one in so many are as they were, and the others have that many updates.
  template <class Float>
  void check(DType type, const std::vector<Float>& a, const std::vector<Float>& b,
             Reduction reduction, int64_t columns = 1, int64_t repeats = 1) {
    using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
    const size_t bytes = a.size() * sizeof(Float);
    const auto count = static_cast<int64_t>(bytes) / type.bytes() / columns;
    const TensorSpec rows(type, {count, columns});
    const Plan plan = plan_scatter(rows, {i32, {count}}, rows, {.reduction = reduction});
    std::vector<int32_t> cells(static_cast<size_t>(count));
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = static_cast<int32_t>(i % (cells.size() / static_cast<size_t>(repeats)));
    }
    std::vector<Float> expected(a.size()), got(a.size());
    plan.run(a.data(), cells.data(), b.data(), expected.data(), {.kernel = "reference"});
    DeviceMemory data("vulkan", bytes), updates("vulkan", bytes);
    DeviceMemory indices("vulkan", cells.size() * sizeof(int32_t));
    data.upload(a.data(), bytes);
    updates.upload(b.data(), bytes);
    indices.upload(cells.data(), indices.bytes());
    const DeviceMemory workspace("vulkan", workspace_bytes(plan, {.device = "vulkan"}));
    const Queue queue{.device = "vulkan", .workspace = workspace};
    run(plan, data.data(), indices.data(), updates.data(), data.data(), queue);
    finish(plan, queue);
    data.download(got.data(), bytes);
    for (size_t i = 0; i < got.size() && !HasFailure(); ++i) {
      EXPECT_EQ(std::bit_cast<Bits>(got[i]), std::bit_cast<Bits>(expected[i]))
          << type.name() << " " << to_string(reduction) << ": " << a[i] << ", " << b[i] << ": "
          << got[i] << " instead of " << expected[i];
    }
  }

  template <class Float, class Bits>
  void check_all(DType real, DType complex) {
    const std::vector<Float> values = edge_floats<Float, Bits>();
    std::vector<Float> a, b;
    for (const Float x : values) {
      for (const Float y : values) {
        a.push_back(x);
        b.push_back(y);
      }
    }
    for (const Reduction reduction :
         {Reduction::kAdd, Reduction::kSub, Reduction::kMul, Reduction::kMin, Reduction::kMax}) {
      check(real, a, b, reduction);
    }
    for (const Reduction reduction : {Reduction::kAdd, Reduction::kSub, Reduction::kMul}) {
      check(complex, a, b, reduction);
    }
  }
};

TEST_P(VulkanNativeFloats, F32) { check_all<float, uint32_t>(f32, c64); }

// Four at a time, and lists longer than those that are loaded at once.
TEST_P(VulkanNativeFloats, RowsOfF32) {
  const std::vector<float> values = edge_floats<float, uint32_t>();
  std::vector<float> a, b;
  for (const float x : values) {
    for (const float y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const size_t whole = a.size() / 8 * 8;
  a.resize(whole);
  b.resize(whole);
  for (const Reduction reduction :
       {Reduction::kAdd, Reduction::kSub, Reduction::kMul, Reduction::kMean, Reduction::kMax}) {
    for (const int64_t columns : {4, 8}) {
      for (const int64_t repeats : {1, 3, 21}) {
        check(f32, a, b, reduction, columns, repeats);
      }
    }
  }
}

TEST_P(VulkanNativeFloats, F64) { check_all<double, uint64_t>(f64, c128); }

INSTANTIATE_TEST_SUITE_P(Native, VulkanNativeFloats, testing::Bool());

// lavapipe promises the rounding and SwiftShader does not, so that together they test both.
class VulkanPromises : public DeviceTest {};

TEST_F(VulkanPromises, AreThoseOfTheSoftwareDevices) {
  const vulkan::OpenDevice& device = vulkan::own_device();
  if (device.name.find("SwiftShader") != std::string::npos) {
    EXPECT_FALSE(device.native_f32 || device.native_f64);
  } else if (device.short_loops) {
    EXPECT_TRUE(device.native_f32 && device.native_f64);
  }
}

}  // namespace
}  // namespace sheaf
