// SPDX-License-Identifier: MIT
//
// Floats of any format, computed in integers: the bits are those of IEEE 754, rounded once to
// nearest, ties to even, with subnormals. Vulkan lets a device flush them or round as it likes
// unless it promises otherwise, and few promise; f64 and f16 it need not have at all.
#ifndef SHEAF_FLOAT
#define SHEAF_FLOAT

#include "wide.glsl"

// Of the enumeration Kind.
const uint kFloat8E4M3 = 9u, kFloat8E5M2 = 10u, kFloat16 = 11u, kBFloat16 = 12u;
const uint kFloat32 = 13u, kFloat64 = 14u, kComplex64 = 15u, kComplex128 = 16u;

struct Format {
  uint exponent_bits, mantissa_bits;
  bool ieee;  // else there are no infinities, and NaN is all ones
};

Format format_of(uint kind) {
  switch (kind) {
    case kFloat8E4M3: return Format(4u, 3u, false);
    case kFloat8E5M2: return Format(5u, 2u, true);
    case kFloat16: return Format(5u, 10u, true);
    case kBFloat16: return Format(8u, 7u, true);
    case kFloat32: return Format(8u, 23u, true);
  }
  return Format(11u, 52u, true);
}

int bias_of(Format f) { return (1 << (f.exponent_bits - 1u)) - 1; }
uvec2 mask_of(uint bits) { return minus(shifted_left(uvec2(1u, 0u), bits), uvec2(1u, 0u)); }
uvec2 infinity_of(Format f) {
  return shifted_left(uvec2((1u << f.exponent_bits) - 1u, 0u), f.mantissa_bits);
}
uvec2 nan_of(Format f) {
  const uvec2 fraction =
      f.ieee ? shifted_left(uvec2(1u, 0u), f.mantissa_bits - 1u) : mask_of(f.mantissa_bits);
  return infinity_of(f) | fraction;
}

// A number is mantissa / 2^63 * 2^exponent, the top bit of the mantissa set. Its lowest bit may
// stand for all that lie below.
const uint kZero = 0u, kFinite = 1u, kInfinite = 2u, kNan = 3u;
struct Number {
  uint kind, sign;
  int exponent;
  uvec2 mantissa;
};

Number normalized(uint sign, int exponent, uvec2 mantissa) {
  if (is_zero(mantissa)) {
    return Number(kZero, sign, 0, mantissa);
  }
  const uint zeros = leading_zeros(mantissa);
  return Number(kFinite, sign, exponent - int(zeros), shifted_left(mantissa, zeros));
}

Number unpacked(Format f, uvec2 bits) {
  const uvec2 fraction = bits & mask_of(f.mantissa_bits);
  const uint top = (1u << f.exponent_bits) - 1u;
  const uint field = shifted_right(bits, f.mantissa_bits).x & top;
  const uint sign = shifted_right(bits, f.mantissa_bits + f.exponent_bits).x & 1u;
  if (f.ieee && field == top) {
    return Number(is_zero(fraction) ? kInfinite : kNan, sign, 0, uvec2(0u));
  }
  if (!f.ieee && field == top && fraction == mask_of(f.mantissa_bits)) {
    return Number(kNan, sign, 0, uvec2(0u));
  }
  uvec2 mantissa = shifted_left(fraction, 63u - f.mantissa_bits);
  if (field != 0u) {
    mantissa.y |= 0x80000000u;
  }
  return normalized(sign, int(max(field, 1u)) - bias_of(f), mantissa);
}

// value / 2^places, to the nearest, ties to even.
uvec2 rounded_shift(uvec2 value, uint places) {
  if (places > 64u) {
    return uvec2(0u);  // less than half of one
  }
  const uvec2 kept = places == 64u ? uvec2(0u) : shifted_right(value, places);
  const uvec2 rest = places == 64u ? value : value & mask_of(places);
  const uvec2 half_one = shifted_left(uvec2(1u, 0u), places - 1u);
  const bool up = below(half_one, rest) || (rest == half_one && (kept.x & 1u) != 0u);
  return up ? plus(kept, 1u) : kept;
}

uvec2 packed(Format f, Number n) {
  const uvec2 sign = shifted_left(uvec2(n.sign, 0u), f.mantissa_bits + f.exponent_bits);
  if (n.kind == kNan) {
    return nan_of(f);
  }
  const uvec2 overflow = f.ieee ? sign | infinity_of(f) : nan_of(f);
  if (n.kind == kInfinite) {
    return overflow;
  }
  if (n.kind == kZero) {
    return sign;
  }
  const int least = 1 - bias_of(f);
  const int exponent = max(n.exponent, least);
  const int below_least = min(exponent - n.exponent, 128);
  // A mantissa that rounds up carries into the exponent; a subnormal has the field 0.
  const uvec2 units = rounded_shift(n.mantissa, 63u - f.mantissa_bits + uint(below_least));
  const uvec2 pattern = plus(
      units, shifted_left(uvec2(uint(exponent + bias_of(f) - 1), 0u), f.mantissa_bits));
  const uvec2 beyond = f.ieee ? infinity_of(f) : nan_of(f);
  if (exponent + bias_of(f) > (1 << f.exponent_bits) || !below(pattern, beyond)) {
    return overflow;
  }
  return sign | pattern;
}

// Of numbers that were unpacked: their mantissas have 53 bits or fewer.
Number sum_of(Number a, Number b) {
  if (a.kind == kNan || b.kind == kNan ||
      (a.kind == kInfinite && b.kind == kInfinite && a.sign != b.sign)) {
    return Number(kNan, 0u, 0, uvec2(0u));
  }
  if (a.kind == kZero && b.kind == kZero) {
    return Number(kZero, a.sign & b.sign, 0, uvec2(0u));
  }
  if (a.kind == kInfinite || b.kind == kZero) {
    return a;
  }
  if (b.kind == kInfinite || a.kind == kZero) {
    return b;
  }
  if (a.exponent < b.exponent || (a.exponent == b.exponent && below(a.mantissa, b.mantissa))) {
    const Number larger = b;
    b = a;
    a = larger;
  }
  const uint places = uint(a.exponent - b.exponent) + 1u;
  uvec2 small = uvec2(1u, 0u);
  if (places < 64u) {
    small = shifted_right(b.mantissa, places);
    small.x |= is_zero(b.mantissa & mask_of(places)) ? 0u : 1u;
  }
  const uvec2 large = shifted_right(a.mantissa, 1u);
  if (a.sign == b.sign) {
    return normalized(a.sign, a.exponent + 1, plus(large, small));
  }
  const uvec2 difference = minus(large, small);
  return normalized(is_zero(difference) ? 0u : a.sign, a.exponent + 1, difference);
}

Number product_of(Number a, Number b) {
  const uint sign = a.sign ^ b.sign;
  const bool infinite = a.kind == kInfinite || b.kind == kInfinite;
  const bool zero = a.kind == kZero || b.kind == kZero;
  if (a.kind == kNan || b.kind == kNan || (infinite && zero)) {
    return Number(kNan, 0u, 0, uvec2(0u));
  }
  if (infinite || zero) {
    return Number(infinite ? kInfinite : kZero, sign, 0, uvec2(0u));
  }
  const uvec2 low = times(a.mantissa.x, b.mantissa.x);
  const uvec2 cross0 = plus(times(a.mantissa.x, b.mantissa.y), low.y);
  const uvec2 cross1 = plus(times(a.mantissa.y, b.mantissa.x), cross0.x);
  uvec2 high = plus(plus(times(a.mantissa.y, b.mantissa.y), cross0.y), cross1.y);
  high.x |= (low.x | cross1.x) != 0u ? 1u : 0u;
  return normalized(sign, a.exponent + b.exponent + 1, high);
}

// `divisor` is finite and positive; mantissas have 53 bits or fewer.
Number quotient_of_numbers(Number a, Number divisor) {
  if (a.kind != kFinite) {
    return a;
  }
  uvec2 rest = shifted_right(a.mantissa, 2u);
  const uvec2 by = shifted_right(divisor.mantissa, 2u);
  uvec2 quotient = uvec2(0u);
  for (int bit = 0; bit < 64; ++bit) {
    quotient = shifted_left(quotient, 1u);
    if (!below(rest, by)) {
      rest = minus(rest, by);
      quotient.x |= 1u;
    }
    rest = shifted_left(rest, 1u);
  }
  quotient.x |= is_zero(rest) ? 0u : 1u;
  return normalized(a.sign, a.exponent - divisor.exponent, quotient);
}

Number number_of_count(uvec2 count) { return normalized(0u, 63, count); }

// The square root of a count below 2^62, rounded to f64. Digit by digit: a root has one for two of
// the number, and 56 are more than f64 keeps.
Number root_of_count(uvec2 count) {
  const Number number = number_of_count(count);
  const uint odd = uint(number.exponent) & 1u;
  const uvec2 digits = odd != 0u ? number.mantissa : shifted_right(number.mantissa, 1u);
  uvec2 root = uvec2(0u), rest = uvec2(0u);
  for (uint i = 0u; i < 56u; ++i) {
    rest = shifted_left(rest, 2u);
    rest.x |= i < 32u ? shifted_right(digits, 62u - 2u * i).x & 3u : 0u;
    const uvec2 trial = plus(shifted_left(root, 2u), 1u);
    root = shifted_left(root, 1u);
    if (!below(rest, trial)) {
      rest = minus(rest, trial);
      root.x |= 1u;
    }
  }
  root = shifted_left(root, 8u);
  root.x |= is_zero(rest) ? 0u : 1u;
  const Format f = format_of(kFloat64);
  return unpacked(f, packed(f, Number(kFinite, 0u, int(uint(number.exponent) >> 1), root)));
}

#endif
