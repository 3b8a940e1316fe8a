// SPDX-License-Identifier: MIT
//
// The small float formats as bit patterns: conversions that round to nearest, ties to even.
// C++20 with g++ 12 has no type for them, and lane-dependent hardware conversions must not decide
// bits. In integers and constexpr, so that every processor runs the same.
#pragma once

#include <cstdint>
#include <limits>

#include "support/bit_cast.h"

namespace sheaf {

// A binary format by its parts. `ieee` formats keep the top exponent for infinities and NaN;
// the others (E4M3 "fn") use it for numbers, except for the pattern of all ones, which is NaN.
struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool ieee;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int top_exponent() const { return (1 << exponent_bits) - 1; }
  constexpr int infinity() const { return top_exponent() << mantissa_bits; }
  constexpr int nan() const {
    return infinity() | (ieee ? 1 << (mantissa_bits - 1) : (1 << mantissa_bits) - 1);
  }
};
inline constexpr FloatFormat kFormatF16{5, 10, true};
inline constexpr FloatFormat kFormatBF16{8, 7, true};
inline constexpr FloatFormat kFormatF8E4M3{4, 3, false};
inline constexpr FloatFormat kFormatF8E5M2{5, 2, true};

namespace detail {

// value / 2^shift, to the nearest, ties to even.
constexpr uint64_t rounded_shift(uint64_t value, int shift) {
  if (shift > 62) {
    return 0;  // a double's 53 bits are less than half of one
  }
  const uint64_t kept = value >> shift;
  const uint64_t rest = value & ((uint64_t{1} << shift) - 1);
  const uint64_t half = (uint64_t{1} << shift) >> 1;
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace detail

// The pattern nearest to `value`. Above the largest number: infinity, or NaN where there is none.
constexpr uint16_t to_float_bits(FloatFormat format, double value) {
  constexpr uint64_t kInfinity = uint64_t{0x7FF} << 52;
  const auto bits = bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const int sign = static_cast<int>(bits >> 63) << (format.exponent_bits + format.mantissa_bits);
  const int overflow = format.ieee ? format.infinity() : format.nan();
  if (magnitude >= kInfinity) {
    return static_cast<uint16_t>(sign | (magnitude > kInfinity ? format.nan() : overflow));
  }
  const int field = static_cast<int>(magnitude >> 52);
  if (field == 0) {
    return static_cast<uint16_t>(
        sign);  // a double this small is below half of every format's least
  }
  const uint64_t mantissa = (magnitude & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  const int least = 1 - format.bias();
  const int exponent = field - 1023 > least ? field - 1023 : least;
  // In units of the last place at this exponent. Adding, not or-ing, lets a mantissa that rounds up
  // carry into the exponent; a subnormal has the field 0 and no hidden bit, which is what
  // subtracting one step of the exponent gives.
  const uint64_t units =
      detail::rounded_shift(mantissa, 52 - format.mantissa_bits + exponent - (field - 1023));
  const int64_t pattern =
      static_cast<int64_t>(units) + (int64_t{exponent + format.bias() - 1} << format.mantissa_bits);
  const int largest = (format.ieee ? format.infinity() : format.nan()) - 1;
  return static_cast<uint16_t>(sign | (pattern > largest ? overflow : static_cast<int>(pattern)));
}

// The value of a pattern, exactly.
constexpr double from_float_bits(FloatFormat format, uint16_t bits) {
  const int mantissa = format.mantissa_bits;
  const int fraction = bits & ((1 << mantissa) - 1);
  const int exponent = (bits >> mantissa) & format.top_exponent();
  const bool negative = ((bits >> (mantissa + format.exponent_bits)) & 1) != 0;
  const bool all_ones = exponent == format.top_exponent() && fraction == (1 << mantissa) - 1;
  double magnitude = 0;
  if (format.ieee ? exponent == format.top_exponent() : all_ones) {
    magnitude = format.ieee && fraction == 0 ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int hidden = exponent == 0 ? 0 : 1 << mantissa;
    const int power = (exponent > 1 ? exponent : 1) - format.bias() - mantissa;
    magnitude = (fraction + hidden) * bit_cast<double>(uint64_t(1023 + power) << 52);
  }
  const uint64_t sign = uint64_t{negative} << 63;
  return bit_cast<double>(bit_cast<uint64_t>(magnitude) | sign);
}

}  // namespace sheaf
