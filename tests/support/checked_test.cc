// SPDX-License-Identifier: MIT
#include "support/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sheaf {
namespace {

TEST(Checked, AgreesWithWholeNumbers) {
  const std::vector<int64_t> numbers = {0,
                                        1,
                                        -1,
                                        2,
                                        -2,
                                        3,
                                        INT32_MAX,
                                        INT32_MIN,
                                        4294967296,
                                        -4294967296,
                                        INT64_MAX,
                                        INT64_MIN,
                                        INT64_MAX - 1,
                                        INT64_MIN + 1,
                                        INT64_MAX / 2,
                                        INT64_MIN / 2,
                                        INT64_MAX / 2 + 1,
                                        3037000499,
                                        3037000500,
                                        -3037000500};
  const auto fits = [](__int128 value) { return value >= INT64_MIN && value <= INT64_MAX; };
  for (const int64_t a : numbers) {
    for (const int64_t b : numbers) {
      const __int128 sum = static_cast<__int128>(a) + b;
      const __int128 product = static_cast<__int128>(a) * b;
      ASSERT_EQ(checked_add(a, b).has_value(), fits(sum)) << a << " + " << b;
      ASSERT_EQ(checked_mul(a, b).has_value(), fits(product)) << a << " * " << b;
      if (fits(sum)) {
        ASSERT_EQ(*checked_add(a, b), static_cast<int64_t>(sum));
      }
      if (fits(product)) {
        ASSERT_EQ(*checked_mul(a, b), static_cast<int64_t>(product));
      }
    }
  }
}

TEST(Checked, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(saturating_add(INT64_MAX - 1, 1), INT64_MAX);
  EXPECT_EQ(saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_add(3, 4), 7);
  EXPECT_EQ(saturating_mul(INT64_MAX / 2 + 1, 2), INT64_MAX);
  EXPECT_EQ(saturating_mul(3, 4), 12);
  EXPECT_EQ(pieces_of(0, 3), 0);
  EXPECT_EQ(pieces_of(6, 3), 2);
  EXPECT_EQ(pieces_of(7, 3), 3);
  EXPECT_EQ(pieces_of(INT64_MAX, INT64_MAX - 1), 2);
}

}  // namespace
}  // namespace sheaf
