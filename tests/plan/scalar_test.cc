// SPDX-License-Identifier: MIT
#include "plan/scalar.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

std::string reason(const Scalar& value, DType type) {
  std::array<std::byte, kMaxElementBytes> element = {};
  const auto before = element;
  const auto why = encode(value, type, element.data());
  EXPECT_TRUE(why.has_value()) << type.name();
  EXPECT_EQ(element, before) << "a refusal writes nothing";
  return why.value_or("");
}

// The bytes, and nothing behind them.
template <class Bits>
void expect_bits(const Scalar& value, DType type, Bits expected) {
  std::array<std::byte, kMaxElementBytes> element;
  element.fill(std::byte{0xEE});
  const auto why = encode(value, type, element.data());
  EXPECT_EQ(why.value_or("fits"), "fits") << type.name();
  ASSERT_EQ(sizeof expected, static_cast<size_t>(type.bytes()));
  Bits bits;
  std::memcpy(&bits, element.data(), sizeof bits);
  EXPECT_EQ(bits, expected) << type.name();
  EXPECT_EQ(element[sizeof expected], std::byte{0xEE});
}

TEST(EncodeInteger, RefusesWhatDoesNotFit) {
  EXPECT_EQ(reason(128, i8), "128 is not a value of type i8");
  EXPECT_EQ(reason(-129, i8), "-129 is not a value of type i8");
  EXPECT_EQ(reason(-1, u8), "-1 is not a value of type u8");
  EXPECT_EQ(reason(256, u8), "256 is not a value of type u8");
  EXPECT_EQ(reason(32768, i16), "32768 is not a value of type i16");
  EXPECT_EQ(reason(65536, u16), "65536 is not a value of type u16");
  EXPECT_EQ(reason(int64_t{1} << 31, i32), "2147483648 is not a value of type i32");
  EXPECT_EQ(reason(int64_t{1} << 32, u32), "4294967296 is not a value of type u32");
  EXPECT_EQ(reason(uint64_t{1} << 63, i64), "9223372036854775808 is not a value of type i64");
  EXPECT_EQ(reason(INT64_MIN, u64), "-9223372036854775808 is not a value of type u64");
  EXPECT_EQ(reason(0.5, i32), "0.5 is not a value of type i32");
  EXPECT_EQ(reason(kNan, i64), "nan is not a value of type i64");
  EXPECT_EQ(reason(kInf, u64), "inf is not a value of type u64");
  EXPECT_EQ(reason(std::ldexp(1, 63), i64), "9223372036854775808 is not a value of type i64");
  EXPECT_EQ(reason(std::ldexp(1, 64), u64), "18446744073709551616 is not a value of type u64");
  EXPECT_EQ(reason(-1.0, u8), "-1 is not a value of type u8");
  EXPECT_EQ(reason(std::complex<double>(1, 0), i8), "(1,0) is not a value of type i8");
}

// Each type refuses each way of not being one of its values.
TEST(EncodeInteger, EveryTypeHasBothBordersForEveryKindOfNumber) {
  struct Range {
    DType type;
    double low, beyond;
  };
  for (const Range& range :
       {Range{i8, -0x1p7, 0x1p7}, Range{i16, -0x1p15, 0x1p15}, Range{i32, -0x1p31, 0x1p31},
        Range{i64, -0x1p63, 0x1p63}, Range{u8, 0, 0x1p8}, Range{u16, 0, 0x1p16},
        Range{u32, 0, 0x1p32}, Range{u64, 0, 0x1p64}, Range{i4, -8, 8}, Range{u4, 0, 16},
        Range{i2, -2, 2}, Range{u2, 0, 4}}) {
    const double below = range.low == 0 ? -1 : 2 * range.low;
    for (const double value : {kNan, kInf, -kInf, 0.5, below, range.beyond}) {
      EXPECT_EQ(reason(value, range.type),
                to_string(Scalar(value)) + " is not a value of type " + range.type.name());
    }
    if (range.type != i64) {
      EXPECT_NE(reason(INT64_MIN, range.type), "");
    }
    if (range.type != u64) {
      EXPECT_NE(reason(UINT64_MAX, range.type), "");
    }
    EXPECT_NE(reason(std::complex<double>(1, 1), range.type), "");
    std::array<std::byte, kMaxElementBytes> one = {}, same = {};
    for (const Scalar& value : {Scalar(1.0), Scalar(int64_t{1}), Scalar(uint64_t{1})}) {
      one.fill(std::byte{0});
      EXPECT_EQ(encode(value, range.type, one.data()), std::nullopt);
      encode(Scalar(1), range.type, same.data());
      EXPECT_EQ(one, same) << range.type.name();
    }
  }
}

TEST(EncodeInteger, KeepsTheWholeRange) {
  expect_bits(-128, i8, int8_t{-128});
  expect_bits(127, i8, int8_t{127});
  expect_bits(255, u8, uint8_t{255});
  expect_bits(-32768, i16, int16_t{-32768});
  expect_bits(65535, u16, uint16_t{65535});
  expect_bits(INT32_MIN, i32, INT32_MIN);
  expect_bits(UINT32_MAX, u32, UINT32_MAX);
  expect_bits(INT64_MIN, i64, INT64_MIN);
  expect_bits(UINT64_MAX, u64, UINT64_MAX);
  expect_bits(7.0, i32, int32_t{7});
  expect_bits(-8, i4, uint8_t{8});  // in the lowest bits of a byte
  expect_bits(-1, i4, uint8_t{15});
  expect_bits(7, i4, uint8_t{7});
  expect_bits(15, u4, uint8_t{15});
  expect_bits(-2, i2, uint8_t{2});
  expect_bits(1.0, i2, uint8_t{1});
  expect_bits(3, u2, uint8_t{3});
  expect_bits(-0.0, u16, uint16_t{0});
  expect_bits(-std::ldexp(1, 63), i64, INT64_MIN);
  expect_bits(true, i64, int64_t{1});
  expect_bits(Scalar(), u32, uint32_t{0});
}

TEST(EncodeFloat, RefusesComplexNumbers) {
  EXPECT_EQ(reason(std::complex<double>(1, 2), f32), "(1,2) is complex, but the type is f32");
  EXPECT_EQ(reason(std::complex<double>(0, kNan), bf16),
            "(0,nan) is complex, but the type is bf16");
}

TEST(EncodeFloat, RoundsToTheNearest) {
  expect_bits(1, f32, uint32_t{0x3F800000});
  expect_bits(-2.5, f64, uint64_t{0xC004000000000000});
  expect_bits(0.1, f32, uint32_t{0x3DCCCCCD});
  expect_bits(1e300, f32, uint32_t{0x7F800000});
  expect_bits(-kInf, f32, uint32_t{0xFF800000});
  expect_bits(-0.0, f32, uint32_t{0x80000000});
  expect_bits(1, f16, uint16_t{0x3C00});
  expect_bits(65520, f16, uint16_t{0x7C00});
  expect_bits(65519, f16, uint16_t{0x7BFF});
  expect_bits(1, bf16, uint16_t{0x3F80});
  expect_bits(1.00390625, bf16, uint16_t{0x3F80});  // a tie, to even
  expect_bits(1, f8e4m3, uint8_t{0x38});
  expect_bits(1000, f8e4m3, uint8_t{0x7F});
  expect_bits(1, f8e5m2, uint8_t{0x3C});
  expect_bits(1e9, f8e5m2, uint8_t{0x7C});
  expect_bits(UINT64_MAX, f64, uint64_t{0x43F0000000000000});
  expect_bits(std::complex<double>(3, 0), f32, uint32_t{0x40400000});
}

TEST(EncodeOther, BoolComplexAndOpaque) {
  expect_bits(0, boolean, uint8_t{0});
  expect_bits(-0.0, boolean, uint8_t{0});
  expect_bits(7, boolean, uint8_t{1});
  expect_bits(0.5, boolean, uint8_t{1});
  expect_bits(kNan, boolean, uint8_t{1});
  expect_bits(std::complex<double>(0, 1), boolean, uint8_t{1});
  expect_bits(std::complex<double>(1, -2), c64, std::complex<float>(1, -2));
  expect_bits(std::complex<double>(1, -2), c128, std::complex<double>(1, -2));
  expect_bits(-3, c128, std::complex<double>(-3, 0));
  EXPECT_EQ(reason(1, opaque(24)), "opaque elements can only be filled with 0, not with 1");
  EXPECT_EQ(reason(kNan, opaque(8)), "opaque elements can only be filled with 0, not with nan");
  expect_bits(0, opaque(24), std::array<uint64_t, 3>{0, 0, 0});
  std::array<std::byte, kMaxElementBytes> whole;
  whole.fill(std::byte{0xEE});
  EXPECT_FALSE(encode(0, opaque(64), whole.data()));
  EXPECT_EQ(whole, (std::array<std::byte, kMaxElementBytes>{}));
}

TEST(FillValue, IsOnlyReadWhereItIsUsed) {
  const auto plan = [](OutOfRange out_of_range) {
    return plan_gather({u8, {3}}, {i64, {4}},
                       {.rule = {.out_of_range = out_of_range, .fill_value = -1}});
  };
  EXPECT_EQ(refusal([&] { plan(OutOfRange::kFill); }),
            "gather: fill_value does not fit\n"
            "  fill_value: -1 is not a value of type u8\n"
            "  data u8[3]   indices i64[4]   axis 0   output u8[4]\n"
            "  try: a value of type u8");
  EXPECT_EQ(plan(OutOfRange::kClamp).nest().fill_value[0], std::byte{0});
}

TEST(ScalarType, TakesNumbersOnly) {
  static_assert(std::is_constructible_v<Scalar, bool>);
  static_assert(std::is_constructible_v<Scalar, char>);
  static_assert(std::is_constructible_v<Scalar, float>);
  static_assert(!std::is_constructible_v<Scalar, const char*>);
  static_assert(!std::is_constructible_v<Scalar, void*>);
  static_assert(!std::is_constructible_v<Scalar, std::nullptr_t>);
}

}  // namespace
}  // namespace sheaf
