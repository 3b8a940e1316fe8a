// SPDX-License-Identifier: MIT
#include "support/float_bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sheaf {

uint16_t to_float_bits(FloatFormat format, double value) {
  const int mantissa = format.mantissa_bits;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int top_exponent = (1 << format.exponent_bits) - 1;
  const int sign = std::signbit(value) ? 1 << (format.exponent_bits + mantissa) : 0;
  const int infinity = top_exponent << mantissa;
  const int nan = format.ieee ? infinity | (1 << (mantissa - 1)) : infinity | ((1 << mantissa) - 1);
  const int overflow = format.ieee ? infinity : nan;
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | nan);
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) {
    return static_cast<uint16_t>(sign | overflow);
  }
  if (magnitude == 0) {
    return static_cast<uint16_t>(sign);
  }
  // In units of the last place at this exponent, rounding is nearbyint (ties to even).
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  // Adding, not or-ing, lets a mantissa that rounds up carry into the exponent; a subnormal has
  // the field 0 and no hidden bit, which is what subtracting one step of the exponent gives.
  const double pattern = units + std::ldexp(exponent + bias - 1, mantissa);
  const int largest = format.ieee ? infinity - 1 : nan - 1;
  return static_cast<uint16_t>(sign | (pattern > largest ? overflow : static_cast<int>(pattern)));
}

double from_float_bits(FloatFormat format, uint16_t bits) {
  const int mantissa = format.mantissa_bits;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int top_exponent = (1 << format.exponent_bits) - 1;
  const int fraction = bits & ((1 << mantissa) - 1);
  const int exponent = (bits >> mantissa) & top_exponent;
  const double sign = (bits >> (mantissa + format.exponent_bits)) & 1 ? -1.0 : 1.0;
  const bool all_ones = exponent == top_exponent && fraction == (1 << mantissa) - 1;
  if (format.ieee ? exponent == top_exponent : all_ones) {
    const bool infinite = format.ieee && fraction == 0;
    const double special = infinite ? std::numeric_limits<double>::infinity()
                                    : std::numeric_limits<double>::quiet_NaN();
    return std::copysign(special, sign);
  }
  const int hidden = exponent == 0 ? 0 : 1 << mantissa;
  return sign * std::ldexp(fraction + hidden, std::max(exponent, 1) - bias - mantissa);
}

}  // namespace sheaf
