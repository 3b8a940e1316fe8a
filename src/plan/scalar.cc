// SPDX-License-Identifier: MIT
#include "plan/scalar.h"

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>

#include "plan/refuse.h"
#include "support/bit_cast.h"
#include "support/float_bits.h"
#include "support/number_text.h"
#include "support/text.h"

namespace sheaf {
namespace {

using Complex = std::complex<double>;

template <class T>
void store_element(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

Complex as_complex(const Scalar& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Complex>) {
          return v;
        } else {
          return Complex(static_cast<double>(v), 0);
        }
      },
      value.value());
}

// True if `value` is a whole number that T holds; it is then in `out`.
template <class T>
bool as_integer(const Scalar& value, T& out) {
  return std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, Complex>) {
          return false;
        } else if constexpr (std::is_same_v<V, double>) {
          // The bounds are powers of two, exact in double; NaN fails both comparisons.
          const double low = static_cast<double>(std::numeric_limits<T>::min());
          const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
          if (!(v >= low && v < beyond) || v != std::trunc(v)) {
            return false;
          }
          out = static_cast<T>(v);
          return true;
        } else {
          if (!std::in_range<T>(v)) {
            return false;
          }
          out = static_cast<T>(v);
          return true;
        }
      },
      value.value());
}

template <class T>
std::optional<std::string> store_integer(const Scalar& value, DType type, std::byte* element) {
  T number = 0;
  if (!as_integer(value, number)) {
    return cat(to_string(value), " is not a value of type ", type.name());
  }
  store_element(number, element);
  return std::nullopt;
}

// An integer of a few bits in the lowest ones of a byte; the others are 0, as in ml_dtypes.
std::optional<std::string> store_sub_byte(const Scalar& value, DType type, std::byte* element) {
  const int bits = type == i4 || type == u4 ? 4 : 2;
  const bool is_signed = type == i4 || type == i2;
  const int low = is_signed ? -(1 << (bits - 1)) : 0;
  int8_t number = 0;
  if (!as_integer(value, number) || number < low || number >= low + (1 << bits)) {
    return cat(to_string(value), " is not a value of type ", type.name());
  }
  store_element(static_cast<uint8_t>(number & ((1 << bits) - 1)), element);
  return std::nullopt;
}

template <class Bits>
void store_small(const FloatFormat& format, double value, std::byte* element) {
  store_element(static_cast<Bits>(to_float_bits(format, value)), element);
}

std::optional<std::string> store_float(const Scalar& value, DType type, std::byte* element) {
  const Complex number = as_complex(value);
  if (number.imag() != 0) {
    return cat(to_string(value), " is complex, but the type is ", type.name());
  }
  const double real = number.real();
  if (type == f8e4m3) {
    store_small<uint8_t>(kFormatF8E4M3, real, element);
  } else if (type == f8e5m2) {
    store_small<uint8_t>(kFormatF8E5M2, real, element);
  } else if (type == f16) {
    store_small<uint16_t>(kFormatF16, real, element);
  } else if (type == bf16) {
    store_small<uint16_t>(kFormatBF16, real, element);
  } else if (type == f32) {
    store_element(static_cast<float>(real), element);
  } else {
    store_element(real, element);
  }
  return std::nullopt;
}

std::optional<std::string> store_opaque(const Scalar& value, DType type, std::byte* element) {
  if (as_complex(value) != Complex(0, 0)) {
    return cat("opaque elements can only be filled with 0, not with ", to_string(value));
  }
  std::memset(element, 0, static_cast<size_t>(type.bytes()));
  return std::nullopt;
}

}  // namespace

bool operator==(const Scalar& a, const Scalar& b) {
  return a.value_.index() == b.value_.index() &&
         std::visit(
             [&](const auto& of_a) {
               using T = std::decay_t<decltype(of_a)>;
               using Words = std::array<uint64_t, sizeof(T) / 8>;
               return bit_cast<Words>(of_a) == bit_cast<Words>(std::get<T>(b.value_));
             },
             a.value_);
}

std::string to_string(const Scalar& value) {
  return std::visit(
      [](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, Complex>) {
          return cat("(", shortest_text(v.real()), ",", shortest_text(v.imag()), ")");
        } else if constexpr (std::is_same_v<V, double>) {
          return shortest_text(v);
        } else {
          return cat(v);
        }
      },
      value.value());
}

std::optional<std::string> encode(const Scalar& value, DType type, std::byte* element) {
  switch (type.kind()) {
    case Kind::kInt8: return store_integer<int8_t>(value, type, element);
    case Kind::kInt16: return store_integer<int16_t>(value, type, element);
    case Kind::kInt32: return store_integer<int32_t>(value, type, element);
    case Kind::kInt64: return store_integer<int64_t>(value, type, element);
    case Kind::kUInt8: return store_integer<uint8_t>(value, type, element);
    case Kind::kUInt16: return store_integer<uint16_t>(value, type, element);
    case Kind::kUInt32: return store_integer<uint32_t>(value, type, element);
    case Kind::kUInt64: return store_integer<uint64_t>(value, type, element);
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kFloat16:
    case Kind::kBFloat16:
    case Kind::kFloat32:
    case Kind::kFloat64: return store_float(value, type, element);
    case Kind::kBool: store_element(as_complex(value) != Complex(0, 0), element); break;
    case Kind::kComplex64: store_element(std::complex<float>(as_complex(value)), element); break;
    case Kind::kComplex128: store_element(as_complex(value), element); break;
    case Kind::kInt4:
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2: return store_sub_byte(value, type, element);
    case Kind::kOpaque: return store_opaque(value, type, element);
  }
  return std::nullopt;
}

void encode_fill_value(const Request& r, std::byte* element) {
  if (const auto reason = encode(r.rule.fill_value, r.data.dtype, element)) {
    refuse(r, {Reason::kFillValue}, "fill_value does not fit", cat("fill_value: ", *reason),
           cat("a value of type ", r.data.dtype.name()));
  }
}

}  // namespace sheaf
