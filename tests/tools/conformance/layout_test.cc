// SPDX-License-Identifier: MIT
#include "conformance/layout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "plan/byte_ranges.h"

namespace sheaf::cli {
namespace {

constexpr Layout kLayouts[] = {Layout::kPacked, Layout::kPadded, Layout::kReversed,
                               Layout::kTransposed};

Literal counting(int64_t bytes) {
  Literal values(static_cast<size_t>(bytes));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::byte>(i);
  }
  return values;
}

TEST(Layout, HasTheStridesOfItsName) {
  const TensorSpec spec(i16, {2, 1, 3});
  EXPECT_EQ(Placed(spec, Layout::kPacked).spec().strides, (Dims{3, 3, 1}));
  EXPECT_EQ(Placed(spec, Layout::kPadded).spec().strides, (Dims{6, int64_t{1} << 50, 2}));
  EXPECT_EQ(Placed(spec, Layout::kReversed).spec().strides, (Dims{-3, 1, -1}));
  EXPECT_EQ(Placed(spec, Layout::kTransposed).spec().strides, (Dims{1, 1, 2}));
}

TEST(Layout, KeepsTheElements) {
  for (const Layout layout : kLayouts) {
    for (const Dims& sizes : {Dims{}, Dims{5}, Dims{2, 1, 3}, Dims{3, 2, 2, 2}, Dims{2, 0, 3}}) {
      const TensorSpec spec(i32, sizes);
      const Literal values = counting(element_count(sizes) * 4);
      Placed placed(spec, layout);
      EXPECT_TRUE(placed.untouched());
      placed.write(values);
      EXPECT_EQ(placed.read(), values) << to_string(layout);
      EXPECT_EQ(placed.untouched(), values.empty()) << to_string(layout);
      EXPECT_TRUE(placed.gaps_untouched()) << to_string(layout);
      EXPECT_TRUE(elements_disjoint(placed.spec())) << to_string(layout);
    }
  }
}

TEST(Layout, SeesAWriteIntoAGap) {
  Placed placed(TensorSpec(u8, {3}), Layout::kPadded);
  placed.write(counting(3));
  placed.data()[1] = std::byte{0};  // between elements 0 and 1
  EXPECT_FALSE(placed.gaps_untouched());
  placed.data()[1] = std::byte{0xA5};
  EXPECT_TRUE(placed.gaps_untouched());
}

TEST(Layout, OfManyDimensionsStaysSmall) {
  const Dims sizes(kMaxRank, 1);
  for (const Layout layout : kLayouts) {
    Placed placed(TensorSpec(f64, sizes), layout);
    placed.write(counting(8));
    EXPECT_EQ(placed.read(), counting(8));
  }
}

}  // namespace
}  // namespace sheaf::cli
