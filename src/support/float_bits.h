// SPDX-License-Identifier: MIT
//
// The small float formats as bit patterns: conversions that round to nearest, ties to even.
// C++20 with g++ 12 has no type for them, and lane-dependent hardware conversions must not decide
// bits.
#pragma once

#include <cstdint>

namespace sheaf {

// A binary format by its parts. `ieee` formats keep the top exponent for infinities and NaN;
// the others (E4M3 "fn") use it for numbers, save for the one pattern of all ones, which is NaN.
struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool ieee;
};
inline constexpr FloatFormat kFormatF16{5, 10, true};
inline constexpr FloatFormat kFormatBF16{8, 7, true};
inline constexpr FloatFormat kFormatF8E4M3{4, 3, false};
inline constexpr FloatFormat kFormatF8E5M2{5, 2, true};

// The pattern nearest to `value`. Above the largest number: infinity, or NaN where there is none.
uint16_t to_float_bits(FloatFormat format, double value);

// The value of a pattern, exactly.
double from_float_bits(FloatFormat format, uint16_t bits);

}  // namespace sheaf
