// SPDX-License-Identifier: MIT
#include "helpers/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace oracle {

SmallFloat::SmallFloat(int exponent_bits, int mantissa_bits, bool has_infinity) {
  const uint32_t per_exponent = uint32_t{1} << mantissa_bits;
  const uint32_t exponents = uint32_t{1} << exponent_bits;
  sign_ = per_exponent * exponents;
  const int bias = static_cast<int>(exponents / 2) - 1;
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  for (uint32_t exponent = 0; exponent < exponents; ++exponent) {
    for (uint32_t fraction = 0; fraction < per_exponent; ++fraction) {
      const long double part = static_cast<long double>(fraction) / per_exponent;
      const int power = std::max(1, static_cast<int>(exponent)) - bias;
      long double value = std::ldexp(part + (exponent == 0 ? 0 : 1), power);
      if (has_infinity && exponent == exponents - 1) {
        value = fraction == 0 ? kInfinity : kNan;
      } else if (!has_infinity && exponent == exponents - 1 && fraction == per_exponent - 1) {
        value = kNan;
      }
      values_.push_back(value);
    }
  }
  const uint32_t infinity = sign_ - per_exponent;
  highest_ = has_infinity ? infinity : sign_ - 2;
  nan_ = has_infinity ? infinity + per_exponent / 2 : sign_ - 1;
  // Halfway from the largest number to the next there would be if the format went on.
  const uint32_t largest = has_infinity ? infinity - 1 : sign_ - 2;
  beyond_ = values_[largest] + (values_[largest] - values_[largest - 1]) / 2;
  for (uint32_t bits = 0; bits < sign_; ++bits) {
    values_.push_back(-values_[bits]);
  }
}

uint32_t SmallFloat::nearest(long double value) const {
  if (std::isnan(value)) {
    return nan_;
  }
  const uint32_t sign = std::signbit(value) ? sign_ : 0;
  const long double size = std::fabs(value);
  const bool infinite = std::isinf(values_[highest_]);
  const uint32_t largest = infinite ? highest_ - 1 : highest_;
  // The tie at the very top goes to the even pattern too.
  if (size > beyond_ || (size == beyond_ && largest % 2 == 1)) {
    return infinite ? sign | highest_ : nan_;
  }
  const auto first = values_.begin();
  const auto above = std::lower_bound(first, first + largest + 1, size);
  const auto high = std::min<int64_t>(above - first, largest);
  if (high == 0 || values_[static_cast<size_t>(high)] <= size) {
    return sign | static_cast<uint32_t>(high);
  }
  const long double up = values_[static_cast<size_t>(high)] - size;
  const long double down = size - values_[static_cast<size_t>(high - 1)];
  const bool take_high = up < down || (up == down && high % 2 == 0);
  return sign | static_cast<uint32_t>(take_high ? high : high - 1);
}

const SmallFloat& SmallFloat::of(sheaf::DType type) {
  static const SmallFloat e4m3(4, 3, false), e5m2(5, 2, true), half(5, 10, true), brain(8, 7, true);
  switch (type.kind()) {
    case sheaf::Kind::kFloat8E4M3: return e4m3;
    case sheaf::Kind::kFloat8E5M2: return e5m2;
    case sheaf::Kind::kFloat16: return half;
    case sheaf::Kind::kBFloat16: return brain;
    default: throw std::logic_error("not a small float");
  }
}

}  // namespace oracle
