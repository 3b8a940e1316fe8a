// SPDX-License-Identifier: MIT
//
// Every pattern of every small float format, and every point between two of them where rounding
// changes its mind.
#include "support/float_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "helpers/rng.h"

namespace sheaf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Named {
  const char* name;
  FloatFormat format;
  int bits;
  uint16_t largest;  // the pattern of the largest finite number
  double largest_value, smallest_value;
};
const Named kFormats[] = {
    {"F16", kFormatF16, 16, 0x7BFF, 65504, 0x1p-24},
    {"BF16", kFormatBF16, 16, 0x7F7F, 0x1.FEp127, 0x1p-133},
    {"F8E4M3", kFormatF8E4M3, 8, 0x7E, 448, 0x1p-9},
    {"F8E5M2", kFormatF8E5M2, 8, 0x7B, 57344, 0x1p-16},
};

class FloatBits : public testing::TestWithParam<Named> {
 protected:
  const FloatFormat format = GetParam().format;
  const uint16_t sign = static_cast<uint16_t>(1u << (GetParam().bits - 1));
  const uint16_t largest = GetParam().largest;

  uint16_t to_bits(double value) const { return to_float_bits(format, value); }
  double from_bits(unsigned bits) const {
    return from_float_bits(format, static_cast<uint16_t>(bits));
  }
  uint16_t negative(unsigned bits) const { return static_cast<uint16_t>(bits | sign); }
};

// The value of a finite pattern, built by counting: the numbers of a format stand 2^k apart, and
// k grows by one after each full run of the mantissa, except after the first.
TEST_P(FloatBits, ValuesFollowEachOther) {
  const unsigned run = 1u << format.mantissa_bits;
  double value = 0;
  double step = GetParam().smallest_value;
  for (unsigned bits = 0; bits <= largest; ++bits) {
    ASSERT_EQ(from_bits(bits), value) << bits;
    ASSERT_EQ(from_bits(negative(bits)), -value) << bits;
    ASSERT_EQ(std::signbit(from_bits(negative(bits))), true);
    if (bits >= 2 * run && bits % run == 0) {
      step *= 2;
    }
    value += step;
  }
  EXPECT_EQ(from_bits(largest), GetParam().largest_value);
}

TEST_P(FloatBits, FinitePatternsGoRoundTrip) {
  for (unsigned bits = 0; bits <= largest; ++bits) {
    ASSERT_EQ(to_bits(from_bits(bits)), bits);
    ASSERT_EQ(to_bits(from_bits(negative(bits))), negative(bits));
  }
}

TEST_P(FloatBits, EveryOtherPatternIsInfiniteOrNan) {
  for (unsigned bits = largest + 1u; bits < sign; ++bits) {
    const double value = from_bits(bits);
    const bool infinity = format.ieee && bits == largest + 1u;
    ASSERT_EQ(std::isinf(value), infinity) << bits;
    ASSERT_EQ(std::isnan(value), !infinity) << bits;
    ASSERT_FALSE(std::signbit(value));
    ASSERT_TRUE(std::signbit(from_bits(negative(bits))));
    if (infinity) {
      ASSERT_EQ(to_bits(value), bits);
      ASSERT_EQ(to_bits(-value), negative(bits));
    } else {
      ASSERT_TRUE(std::isnan(from_bits(to_bits(value))));
      ASSERT_EQ(to_bits(-value), negative(to_bits(value)));
    }
  }
}

TEST_P(FloatBits, RoundsToTheNearestAndTiesToEven) {
  for (unsigned bits = 0; bits < largest; ++bits) {
    const double middle = (from_bits(bits) + from_bits(bits + 1)) / 2;  // exact in double
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(to_bits(middle), even) << bits;
    ASSERT_EQ(to_bits(-middle), negative(even)) << bits;
    ASSERT_EQ(to_bits(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(to_bits(std::nextafter(middle, kInf)), bits + 1);
  }
}

TEST_P(FloatBits, BeyondTheLargestIsInfinityOrNan) {
  const double half_step = (from_bits(largest) - from_bits(largest - 1u)) / 2;
  const double edge = from_bits(largest) + half_step;
  const unsigned beyond = largest + 1u;  // infinity, or NaN where there is none
  EXPECT_EQ(to_bits(std::nextafter(edge, 0)), largest);
  // IEEE: the tie goes to the even pattern, which is infinity. E4M3: the largest is even.
  EXPECT_EQ(to_bits(edge), format.ieee ? beyond : largest);
  for (const double value :
       {std::nextafter(edge, kInf), edge * 2, 1e300, std::numeric_limits<double>::max(), kInf}) {
    EXPECT_EQ(to_bits(value), beyond);
    EXPECT_EQ(to_bits(-value), negative(beyond));
  }
}

TEST_P(FloatBits, TooSmallIsZeroWithItsSign) {
  EXPECT_EQ(to_bits(0.0), 0);
  EXPECT_EQ(to_bits(-0.0), sign);
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(to_bits(tiny), 0);
  EXPECT_EQ(to_bits(-tiny), sign);
  EXPECT_EQ(to_bits(std::numeric_limits<double>::min()), 0);
}

INSTANTIATE_TEST_SUITE_P(Format, FloatBits, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(format.param.name); });

// bfloat16 is the upper half of a float: its patterns are those of floats with 16 zeros below.
TEST(FloatBitsAgainstFloat, BFloat16IsTheUpperHalf) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto whole = std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    const double value = from_float_bits(kFormatBF16, static_cast<uint16_t>(bits));
    if (std::isnan(whole)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, static_cast<double>(whole)) << bits;
    }
  }
}

// g++ 12 has _Float16 in C++ on x86-64 only; __fp16 on arm64 is the same format.
#if defined(__aarch64__)
#define SHEAF_TEST_HALF __fp16
#elif defined(__FLT16_MANT_DIG__)
#define SHEAF_TEST_HALF _Float16
#endif

#ifdef SHEAF_TEST_HALF
// The compiler's own conversion, where there is one: on numbers of all magnitudes.
TEST(FloatBitsAgainstCompiler, Float16) {
  Rng rng(16);
  for (int i = 0; i < 200000; ++i) {
    const double mantissa = 1 + std::ldexp(static_cast<double>(rng.next() >> 12), -52);
    const double value =
        std::ldexp(rng.one_in(2) ? mantissa : -mantissa, static_cast<int>(rng.from(-30, 20)));
    const auto half = static_cast<SHEAF_TEST_HALF>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof bits);
    ASSERT_EQ(to_float_bits(kFormatF16, value), bits) << value;
  }
}
#endif

}  // namespace
}  // namespace sheaf
