// SPDX-License-Identifier: MIT
#include "support/text.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <locale>
#include <string>
#include <string_view>

namespace sheaf {
namespace {

TEST(Text, Cat) {
  EXPECT_EQ(cat(), "");
  EXPECT_EQ(cat("a", std::string("b"), std::string_view("c"), 'd'), "abcd");
  EXPECT_EQ(cat(INT64_MIN, " ", UINT64_MAX, " ", -7, " ", 8u, " ", true),
            "-9223372036854775808 18446744073709551615 -7 8 1");
  EXPECT_EQ(cat(0.5, " ", std::complex<double>(1, 2)), "0.5 (1,2)");
}

TEST(Text, Bracketed) {
  EXPECT_EQ(bracketed({}), "[]");
  EXPECT_EQ(bracketed({-3}), "[-3]");
  EXPECT_EQ(bracketed({3, 5}), "[3, 5]");
}

TEST(Text, Counted) {
  EXPECT_EQ(counted(0, "index", "indices"), "0 indices");
  EXPECT_EQ(counted(1, "index", "indices"), "1 index");
  EXPECT_EQ(counted(-1, "index", "indices"), "-1 indices");
  EXPECT_EQ(counted(1000, "index", "indices"), "1000 indices");
}

struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  char do_decimal_point() const override { return ','; }
};

TEST(Text, DoesNotDependOnTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  EXPECT_EQ(cat(1000000, " ", int64_t{1000000}, " ", uint64_t{1000000}, " ", 1000.5),
            "1000000 1000000 1000000 1000.5");
  EXPECT_EQ(bracketed({1000000}), "[1000000]");
  EXPECT_EQ(counted(1000000, "byte", "bytes"), "1000000 bytes");
  std::locale::global(before);
}

}  // namespace
}  // namespace sheaf
