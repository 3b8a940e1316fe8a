// SPDX-License-Identifier: MIT
//
// The caller's floating-point mode does not show in a sum, and is the same afterwards.
#include "support/float_mode.h"

#include <gtest/gtest.h>

#include <vector>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// Subnormals are flushed to zero while it lives.
class FlushToZero {
 public:
  FlushToZero() { DefaultFloatMode::write(saved_ | DefaultFloatMode::kFlush); }
  ~FlushToZero() { DefaultFloatMode::write(saved_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  uint64_t saved_ = DefaultFloatMode::read();
};

template <class Element>
std::vector<Element> sums(Element update, const char* kernel) {
  const std::vector<Element> updates(64, update);
  const std::vector<int64_t> rows(64, 1);
  std::vector<Element> cells(3);
  const Plan plan = plan_scatter({dtype_of<Element>(), {3}}, {i64, {64}},
                                 {dtype_of<Element>(), {64}}, {.reduction = Reduction::kAdd});
  plan.run(cells.data(), rows.data(), updates.data(), cells.data(), {.kernel = kernel});
  return cells;
}

template <class Element>
void expect_kept(Element smallest, Element sum) {
  const FlushToZero flush;
  for (const char* kernel : {"", "reference"}) {
    EXPECT_EQ(sums(smallest, kernel)[1].bits, sum.bits) << kernel;
  }
}

TEST(FloatMode, SubnormalSumsKeepTheirBits) {
  if (DefaultFloatMode::kFlush == 0) {
    GTEST_SKIP() << "this processor cannot flush subnormals";
  }
  expect_kept<float16>({1}, {64});  // 64 times the smallest number there is
  expect_kept<bfloat16>({1}, {64});
  for (const char* kernel : {"", "reference"}) {
    float sum = 0;
    {
      const FlushToZero flush;
      sum = sums(0x1p-149F, kernel)[1];
    }
    EXPECT_EQ(sum, 0x1p-143F) << kernel;  // compared with subnormals kept
  }
}

TEST(FloatMode, OfASumThatIsRoundedOnce) {
  const std::vector<bfloat16> data = {{1}, {2}, {3}};  // subnormal, and no update goes there
  std::vector<bfloat16> cells(3);
  const Plan plan = plan_scatter({bf16, {3}}, {i64, {0}}, {bf16, {0}},
                                 {.reduction = Reduction::kAdd, .accumulate_f32 = true});
  {
    const FlushToZero flush;
    plan.run(data.data(), nullptr, nullptr, cells.data());
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cells[i].bits, data[i].bits);
  }
}

// Rounding to zero, and on arm64 an f16 without infinities: every bit that Sheaf takes back.
TEST(FloatMode, OfABagThatEndsInHalves) {
  constexpr int kColumns = 37;
  std::vector<float16> rows;
  for (const int bits : {0x3C01, 0x1000, 0x7C00, 0x0001}) {  // 1 + 2^-10, 2^-11, infinity, 2^-24
    rows.insert(rows.end(), kColumns, float16{static_cast<uint16_t>(bits)});
  }
  const std::vector<int64_t> ids = {0, 1, 2, 3, 3, 3};
  const BagPlan plan = plan_bag({TensorSpec(f16, {4, kColumns}), TensorSpec(i64, {3, 2}), {}, {}});
  std::vector<float16> sums(3 * kColumns);
  const uint64_t before = DefaultFloatMode::read();
  DefaultFloatMode::write(before | DefaultFloatMode::kMode);
  plan.run({.stored = rows.data(), .indices = ids.data(), .output = sums.data()});
  DefaultFloatMode::write(before);
  for (size_t column = 0; column < kColumns; ++column) {
    EXPECT_EQ(sums[column].bits, 0x3C02);  // in the middle, to the even number
    EXPECT_EQ(sums[kColumns + column].bits, 0x7C00);
    EXPECT_EQ(sums[2 * kColumns + column].bits, 0x0002);
  }
}

TEST(FloatMode, OfTheCallerIsRestored) {
  const FlushToZero flush;
  const uint64_t before = DefaultFloatMode::read();
  sums(bfloat16{1}, "");
  EXPECT_EQ(DefaultFloatMode::read(), before);
}

}  // namespace
}  // namespace sheaf
