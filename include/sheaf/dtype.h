// SPDX-License-Identifier: MIT
//
// Element types. A gather copies bits, so a type is little more than a size and a name; opaque
// elements of 1 to 64 bytes cover every other trivially copyable type.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#pragma GCC visibility push(default)

namespace sheaf {

enum class Kind : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat8E4M3,  // the "fn" variant: no infinities, one NaN pattern per sign
  kFloat8E5M2,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  // Integers of a few bits, in the lowest ones of a byte each: moved, never computed with.
  kInt4,
  kUInt4,
  kInt2,
  kUInt2,
  kOpaque,
};

class DType {
 public:
  constexpr DType() = default;
  // Any pair can be made; a plan takes those that are known.
  constexpr DType(Kind kind, int bytes)
      : kind_(kind), bytes_(static_cast<uint8_t>(bytes > 0 && bytes <= 255 ? bytes : 0)) {}

  constexpr Kind kind() const { return kind_; }
  constexpr int64_t bytes() const { return bytes_; }
  // Types that an index may have, too.
  constexpr bool is_integer() const { return kind_ >= Kind::kInt8 && kind_ <= Kind::kUInt64; }
  constexpr bool is_signed_integer() const { return kind_ >= Kind::kInt8 && kind_ <= Kind::kInt64; }
  constexpr bool is_sub_byte() const { return kind_ >= Kind::kInt4 && kind_ <= Kind::kUInt2; }
  bool is_known() const;     // one of the types below, or opaque of 1 to 64 bytes
  std::string name() const;  // "f32", "i64", "opaque24", …

  friend constexpr bool operator==(DType, DType) = default;

 private:
  Kind kind_ = Kind::kFloat32;
  uint8_t bytes_ = 4;
};

inline constexpr int kMaxElementBytes = 64;

// The names are those that print() uses.
inline constexpr DType boolean{Kind::kBool, 1};
inline constexpr DType i8{Kind::kInt8, 1};
inline constexpr DType i16{Kind::kInt16, 2};
inline constexpr DType i32{Kind::kInt32, 4};
inline constexpr DType i64{Kind::kInt64, 8};
inline constexpr DType u8{Kind::kUInt8, 1};
inline constexpr DType u16{Kind::kUInt16, 2};
inline constexpr DType u32{Kind::kUInt32, 4};
inline constexpr DType u64{Kind::kUInt64, 8};
inline constexpr DType f8e4m3{Kind::kFloat8E4M3, 1};
inline constexpr DType f8e5m2{Kind::kFloat8E5M2, 1};
inline constexpr DType f16{Kind::kFloat16, 2};
inline constexpr DType bf16{Kind::kBFloat16, 2};
inline constexpr DType f32{Kind::kFloat32, 4};
inline constexpr DType f64{Kind::kFloat64, 8};
inline constexpr DType c64{Kind::kComplex64, 8};
inline constexpr DType c128{Kind::kComplex128, 16};
inline constexpr DType i4{Kind::kInt4, 1};
inline constexpr DType u4{Kind::kUInt4, 1};
inline constexpr DType i2{Kind::kInt2, 1};
inline constexpr DType u2{Kind::kUInt2, 1};

// An element of `bytes` bytes that is only ever copied. Throws unless 1 <= bytes <= 64.
DType opaque(int64_t bytes);

// The type named `name` ("f32", "float32", "bool", "opaque24", …). Throws on an unknown name.
DType dtype_from_name(const std::string& name);

// Storage of the float types that C++20 has no type for: bits only, no arithmetic.
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};
struct float8_e4m3 {
  uint8_t bits;
};
struct float8_e5m2 {
  uint8_t bits;
};

// The element type of a C++ type; anything else that is trivially copyable is opaque.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr int bytes = static_cast<int>(sizeof(U));
  if constexpr (std::is_same_v<U, bool>) {
    return boolean;
  } else if constexpr (std::is_enum_v<U>) {  // std::byte too
    return dtype_of<std::underlying_type_t<U>>();
  } else if constexpr (std::is_integral_v<U>) {
    constexpr DType kSigned[] = {i8, i16, i32, i64};
    constexpr DType kUnsigned[] = {u8, u16, u32, u64};
    constexpr int log2 = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    return std::is_signed_v<U> ? kSigned[log2] : kUnsigned[log2];
  } else if constexpr (std::is_same_v<U, float16>) {
    return f16;
  } else if constexpr (std::is_same_v<U, bfloat16>) {
    return bf16;
  } else if constexpr (std::is_same_v<U, float8_e4m3>) {
    return f8e4m3;
  } else if constexpr (std::is_same_v<U, float8_e5m2>) {
    return f8e5m2;
  } else if constexpr (std::is_same_v<U, float>) {
    return f32;
  } else if constexpr (std::is_same_v<U, double>) {
    return f64;
  } else if constexpr (std::is_same_v<U, std::complex<float>>) {
    return c64;
  } else if constexpr (std::is_same_v<U, std::complex<double>>) {
    return c128;
  } else {
    static_assert(std::is_trivially_copyable_v<U>, "elements are moved by copying their bytes");
    static_assert(bytes <= kMaxElementBytes, "opaque elements have at most 64 bytes");
    return DType(Kind::kOpaque, bytes);
  }
}

}  // namespace sheaf

#pragma GCC visibility pop
