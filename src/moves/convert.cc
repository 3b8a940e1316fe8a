// SPDX-License-Identifier: MIT
#include "moves/convert.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "support/float_bits.h"

namespace sheaf::moves {
namespace {

// A float format that C++ has no type for.
template <FloatFormat kFormat, class Bits>
struct SmallFloat {
  Bits bits;
};
using Half = SmallFloat<kFormatF16, uint16_t>;
using BFloat = SmallFloat<kFormatBF16, uint16_t>;
using E4M3 = SmallFloat<kFormatF8E4M3, uint8_t>;
using E5M2 = SmallFloat<kFormatF8E5M2, uint8_t>;
struct Boolean {
  uint8_t bits;
};

template <FloatFormat kFormat, class Bits>
double widen(SmallFloat<kFormat, Bits> value) {
  return from_float_bits(kFormat, value.bits);
}
inline uint64_t widen(Boolean value) { return value.bits != 0 ? 1 : 0; }
template <class T>
auto widen(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return int64_t{value};
  } else {
    return uint64_t{value};
  }
}

// A double from which a float of at most 24 bits is rounded as from the integer itself: where bits
// are lost, the last one says so (rounding to odd).
template <class Integer>
double sticky_double(Integer value) {
  constexpr Integer kExact = Integer{1} << 53;
  if (value < kExact && (std::is_unsigned_v<Integer> || value > static_cast<Integer>(-kExact))) {
    return static_cast<double>(value);
  }
  constexpr Integer kLow = (Integer{1} << 12) - 1;
  const Integer kept = static_cast<Integer>(value & static_cast<Integer>(~kLow));
  const double rough = static_cast<double>(kept);  // exact: 52 bits, and one to spare
  const bool lost = (value & kLow) != 0;
  return lost ? std::nextafter(rough, std::numeric_limits<double>::infinity()) : rough;
}

template <class T>
T integer_from(double value) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(value > kLow - 1.0)) {  // NaN too
    return std::isnan(value) ? T{0} : std::numeric_limits<T>::min();
  }
  return value >= beyond ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

template <class T>
struct Narrow {
  template <class W>
  static T from(W value) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>) {
      return integer_from<T>(value);
    } else {
      return static_cast<T>(value);
    }
  }
};
template <FloatFormat kFormat, class Bits>
struct Narrow<SmallFloat<kFormat, Bits>> {
  template <class W>
  static SmallFloat<kFormat, Bits> from(W value) {
    if constexpr (std::is_integral_v<W>) {
      return from(sticky_double(value));
    } else {
      return {static_cast<Bits>(to_float_bits(kFormat, value))};
    }
  }
};
template <>
struct Narrow<Boolean> {
  template <class W>
  static Boolean from(W value) {
    return {static_cast<uint8_t>(value != 0 ? 1 : 0)};
  }
};

// Calls body(T{}) with the C++ type of an element.
template <class Body>
void with_type(DType type, Body body) {
  switch (type.kind()) {
    case Kind::kBool: return body(Boolean{});
    case Kind::kInt8: return body(int8_t{});
    case Kind::kInt16: return body(int16_t{});
    case Kind::kInt32: return body(int32_t{});
    case Kind::kInt64: return body(int64_t{});
    case Kind::kUInt8: return body(uint8_t{});
    case Kind::kUInt16: return body(uint16_t{});
    case Kind::kUInt32: return body(uint32_t{});
    case Kind::kUInt64: return body(uint64_t{});
    case Kind::kFloat8E4M3: return body(E4M3{});
    case Kind::kFloat8E5M2: return body(E5M2{});
    case Kind::kFloat16: return body(Half{});
    case Kind::kBFloat16: return body(BFloat{});
    case Kind::kFloat32: return body(float{});
    case Kind::kFloat64: return body(double{});
    case Kind::kComplex64:
    case Kind::kComplex128:
    case Kind::kInt4:
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2:
    case Kind::kOpaque: return;  // is_number() is false
  }
}

void put(WideNumber& to, int64_t value) { to.signed_integer = value; }
void put(WideNumber& to, uint64_t value) { to.unsigned_integer = value; }
void put(WideNumber& to, double value) { to.number = value; }

template <class T, class Member>
void store_as(const WideNumber* from, Member member, std::byte* to, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = Narrow<T>::from(from[i].*member);
    std::memcpy(to + i * step, &value, sizeof value);
  }
}

}  // namespace

bool is_number(DType type) {
  return type.kind() != Kind::kComplex64 && type.kind() != Kind::kComplex128 &&
         type.kind() != Kind::kOpaque && !type.is_sub_byte();
}

Wide wide_of(DType type) {
  if (type.is_signed_integer()) {
    return Wide::kSigned;
  }
  return type.is_integer() || type.kind() == Kind::kBool ? Wide::kUnsigned : Wide::kDouble;
}

void load(DType type, const std::byte* from, int64_t step, int64_t count, WideNumber* to) {
  with_type(type, [&](auto example) {
    for (int64_t i = 0; i < count; ++i) {
      decltype(example) value;
      std::memcpy(&value, from + i * step, sizeof value);
      put(to[i], widen(value));
    }
  });
}

void store(DType type, Wide wide, const WideNumber* from, std::byte* to, int64_t step,
           int64_t count) {
  with_type(type, [&](auto example) {
    using T = decltype(example);
    switch (wide) {
      case Wide::kSigned: return store_as<T>(from, &WideNumber::signed_integer, to, step, count);
      case Wide::kUnsigned:
        return store_as<T>(from, &WideNumber::unsigned_integer, to, step, count);
      case Wide::kDouble: return store_as<T>(from, &WideNumber::number, to, step, count);
    }
  });
}

}  // namespace sheaf::moves
