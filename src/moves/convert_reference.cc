// SPDX-License-Identifier: MIT
//
// The oracle of the conversions: a number is read by its bits into a sign, an integer and a power
// of two, and the target is the element whose value is nearest, found by comparing exact integers.
#include <bit>
#include <cstring>
#include <vector>

#include "moves/convert.h"
#include "support/float_bits.h"

namespace sheaf::moves {
namespace {

// sign * magnitude * 2^exponent, or one of the two that are no number.
struct Exact {
  enum { kFinite, kInfinite, kNan } kind = kFinite;
  bool negative = false;
  uint64_t magnitude = 0;
  int exponent = 0;
};

struct Layout {
  int exponent_bits, mantissa_bits;
  bool ieee;
};

Layout layout_of(DType type) {
  switch (type.kind()) {
    case Kind::kFloat8E4M3: return {4, 3, false};
    case Kind::kFloat8E5M2: return {5, 2, true};
    case Kind::kFloat16: return {5, 10, true};
    case Kind::kBFloat16: return {8, 7, true};
    case Kind::kFloat32: return {8, 23, true};
    default: return {11, 52, true};
  }
}

uint64_t bits_at(const std::byte* from, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(bytes));  // little-endian machines only, as NumPy's
  return bits;
}

Exact read_float(DType type, uint64_t bits) {
  const Layout l = layout_of(type);
  const uint64_t fraction = bits & ((uint64_t{1} << l.mantissa_bits) - 1);
  const int field = static_cast<int>(bits >> l.mantissa_bits) & ((1 << l.exponent_bits) - 1);
  const int top = (1 << l.exponent_bits) - 1;
  Exact exact;
  exact.negative = (bits >> (l.exponent_bits + l.mantissa_bits) & 1) != 0;
  if (field == top && l.ieee) {
    exact.kind = fraction == 0 ? Exact::kInfinite : Exact::kNan;
    return exact;
  }
  if (!l.ieee && field == top && fraction == (uint64_t{1} << l.mantissa_bits) - 1) {
    exact.kind = Exact::kNan;
    return exact;
  }
  exact.magnitude = fraction | (field == 0 ? 0 : uint64_t{1} << l.mantissa_bits);
  exact.exponent = (field == 0 ? 1 : field) - ((1 << (l.exponent_bits - 1)) - 1) - l.mantissa_bits;
  return exact;
}

Exact read(DType type, const std::byte* from) {
  const uint64_t bits = bits_at(from, type.bytes());
  if (type.kind() == Kind::kBool) {
    return {.magnitude = bits != 0 ? uint64_t{1} : 0};
  }
  if (!type.is_integer()) {
    return read_float(type, bits);
  }
  const int unused = 64 - static_cast<int>(type.bytes()) * 8;
  const auto value = static_cast<int64_t>(bits << unused) >> unused;
  if (type.is_signed_integer() && value < 0) {
    return {.negative = true, .magnitude = ~static_cast<uint64_t>(value) + 1};
  }
  return {.magnitude = bits};
}

uint64_t integer_bits(DType type, const Exact& exact, bool from_integer) {
  const int width = static_cast<int>(type.bytes()) * 8;
  const bool is_signed = type.is_signed_integer();
  const uint64_t most = ~uint64_t{0} >> (64 - width + (is_signed ? 1 : 0));
  if (from_integer) {  // the low bits
    return exact.negative ? ~exact.magnitude + 1 : exact.magnitude;
  }
  if (exact.kind == Exact::kNan) {
    return 0;
  }
  uint64_t whole = ~uint64_t{0};  // too large
  if (exact.kind == Exact::kFinite && exact.exponent <= 0) {
    whole = exact.exponent < -63 ? 0 : exact.magnitude >> -exact.exponent;
  } else if (exact.kind == Exact::kFinite && exact.magnitude == 0) {
    whole = 0;
  } else if (exact.kind == Exact::kFinite &&
             static_cast<int>(std::bit_width(exact.magnitude)) + exact.exponent <= 64) {
    whole = exact.magnitude << exact.exponent;
  }
  if (exact.negative) {
    const uint64_t least = is_signed ? most + 1 : 0;
    return ~(whole < least ? whole : least) + 1;
  }
  return whole < most ? whole : most;
}

// Rounds magnitude * 2^exponent to a multiple of 2^unit, ties to even.
uint64_t rounded(const Exact& exact, int unit) {
  const int shift = unit - exact.exponent;
  if (shift <= 0) {
    return -shift < 64 ? exact.magnitude << -shift : 0;  // only zero has such an exponent
  }
  if (shift > 64) {
    return 0;
  }
  const uint64_t kept = shift == 64 ? 0 : exact.magnitude >> shift;
  const uint64_t rest =
      shift == 64 ? exact.magnitude : exact.magnitude & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && kept % 2 == 1) ? 1 : 0);
}

uint64_t float_bits(DType type, const Exact& exact) {
  const Layout l = layout_of(type);
  const int bias = (1 << (l.exponent_bits - 1)) - 1;
  const uint64_t top = (uint64_t{1} << l.exponent_bits) - 1;
  const uint64_t sign = uint64_t{exact.negative} << (l.exponent_bits + l.mantissa_bits);
  const uint64_t infinity = top << l.mantissa_bits;
  const uint64_t nan = l.ieee ? infinity | uint64_t{1} << (l.mantissa_bits - 1)
                              : infinity | ((uint64_t{1} << l.mantissa_bits) - 1);
  const uint64_t overflow = l.ieee ? infinity : nan;
  if (exact.kind != Exact::kFinite) {
    return sign | (exact.kind == Exact::kNan ? nan : overflow);
  }
  if (exact.magnitude == 0) {
    return sign;
  }
  // The unit of the last place: that of the number's own exponent, or of the smallest there is.
  const int own = static_cast<int>(std::bit_width(exact.magnitude)) - 1 + exact.exponent;
  const int unit = (own > 1 - bias ? own : 1 - bias) - l.mantissa_bits;
  const uint64_t units = rounded(exact, unit);
  // A number that rounds up to the next power of two carries into the exponent by itself.
  const int64_t field = int64_t{unit} + l.mantissa_bits + bias - 1;
  const uint64_t pattern = units + (static_cast<uint64_t>(field) << l.mantissa_bits);
  const uint64_t largest = overflow - 1;
  return sign | (pattern > largest ? overflow : pattern);
}

}  // namespace

void convert_reference(DType from_type, const std::byte* from, DType to_type, std::byte* to) {
  const Exact exact = read(from_type, from);
  const bool from_integer = from_type.is_integer() || from_type.kind() == Kind::kBool;
  uint64_t bits = 0;
  if (to_type.kind() == Kind::kBool) {
    bits = exact.kind != Exact::kFinite || exact.magnitude != 0 ? 1 : 0;
  } else if (to_type.is_integer()) {
    bits = integer_bits(to_type, exact, from_integer);
  } else {
    bits = float_bits(to_type, exact);
  }
  std::memcpy(to, &bits, static_cast<size_t>(to_type.bytes()));
}

}  // namespace sheaf::moves
