// SPDX-License-Identifier: MIT
#include "pictures/element_text.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "plan/decode.h"
#include "support/float_bits.h"
#include "support/number_text.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

// NaNs are shown without sign and payload.
template <class T>
std::string float_text(T value) {
  return std::isnan(value) ? "nan" : shortest_text(value);
}

const FloatFormat& small_format(DType type) {
  return type == f8e4m3   ? kFormatF8E4M3
         : type == f8e5m2 ? kFormatF8E5M2
         : type == f16    ? kFormatF16
                          : kFormatBF16;
}

float small_float(DType type, const std::byte* element) {
  const uint16_t bits = type.bytes() == 1 ? load<uint8_t>(element) : load<uint16_t>(element);
  return static_cast<float>(from_float_bits(small_format(type), bits));
}

template <class T>
std::string complex_text(const std::byte* element) {
  return cat("(", float_text(load<T>(element)), ",", float_text(load<T>(element + sizeof(T))), ")");
}

std::string opaque_text(DType type, const std::byte* element) {
  std::string text = "0x";
  for (int64_t i = 0; i < type.bytes(); ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(element[i]);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

// The float type that a value of `type` is made of: complex numbers have two parts.
DType part_of(DType type) { return type == c64 ? f32 : type == c128 ? f64 : type; }

bool part_is_nan(DType type, const std::byte* part) {
  if (type == f8e4m3 || type == f8e5m2 || type == f16 || type == bf16) {
    return std::isnan(small_float(type, part));
  }
  return (type == f32 && std::isnan(load<float>(part))) ||
         (type == f64 && std::isnan(load<double>(part)));
}

}  // namespace

std::string element_text(DType type, const std::byte* element) {
  switch (type.kind()) {
    case Kind::kBool: return load<uint8_t>(element) != 0 ? "true" : "false";
    case Kind::kInt8: return std::to_string(int{load<int8_t>(element)});
    case Kind::kInt16: return std::to_string(load<int16_t>(element));
    case Kind::kInt32: return std::to_string(load<int32_t>(element));
    case Kind::kInt64: return std::to_string(load<int64_t>(element));
    case Kind::kUInt8: return std::to_string(unsigned{load<uint8_t>(element)});
    case Kind::kUInt16: return std::to_string(load<uint16_t>(element));
    case Kind::kUInt32: return std::to_string(load<uint32_t>(element));
    case Kind::kUInt64: return std::to_string(load<uint64_t>(element));
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kFloat16:
    case Kind::kBFloat16: return float_text(small_float(type, element));
    case Kind::kFloat32: return float_text(load<float>(element));
    case Kind::kFloat64: return float_text(load<double>(element));
    case Kind::kComplex64: return complex_text<float>(element);
    case Kind::kComplex128: return complex_text<double>(element);
    case Kind::kInt4: return std::to_string(signed_code<4>(load<uint8_t>(element) & 15U));
    case Kind::kUInt4: return std::to_string(load<uint8_t>(element) & 15U);
    case Kind::kInt2: return std::to_string(signed_code<2>(load<uint8_t>(element) & 3U));
    case Kind::kUInt2: return std::to_string(load<uint8_t>(element) & 3U);
    case Kind::kOpaque: break;
  }
  return opaque_text(type, element);
}

bool same_element(DType type, const std::byte* a, const std::byte* b) {
  const DType part = part_of(type);
  for (int64_t at = 0; at < type.bytes(); at += part.bytes()) {
    const bool same = std::memcmp(a + at, b + at, static_cast<size_t>(part.bytes())) == 0 ||
                      (part_is_nan(part, a + at) && part_is_nan(part, b + at));
    if (!same) {
      return false;
    }
  }
  return true;
}

}  // namespace sheaf::pictures
