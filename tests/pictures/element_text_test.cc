// SPDX-License-Identifier: MIT
#include "pictures/element_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace sheaf::pictures {
namespace {

template <class T>
std::string text_of(const T& value, DType type = dtype_of<T>()) {
  return element_text(type, reinterpret_cast<const std::byte*>(&value));
}

template <class T>
bool same(const T& a, const T& b, DType type = dtype_of<T>()) {
  return same_element(type, reinterpret_cast<const std::byte*>(&a),
                      reinterpret_cast<const std::byte*>(&b));
}

TEST(ElementText, OfEveryType) {
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of(int8_t{-128}), "-128");
  EXPECT_EQ(text_of(int16_t{-300}), "-300");
  EXPECT_EQ(text_of(int32_t{7}), "7");
  EXPECT_EQ(text_of(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(text_of(uint8_t{200}), "200");
  EXPECT_EQ(text_of(uint16_t{65535}), "65535");
  EXPECT_EQ(text_of(uint32_t{1}), "1");
  EXPECT_EQ(text_of(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(text_of(0.1F), "0.1");
  EXPECT_EQ(text_of(-0.0), "-0");
  EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(text_of(-std::nan("")), "nan");
  EXPECT_EQ(text_of(float16{0x3C00}), "1");
  EXPECT_EQ(text_of(bfloat16{0xC040}), "-3");
  EXPECT_EQ(text_of(float8_e4m3{0x38}), "1");
  EXPECT_EQ(text_of(float8_e5m2{0x7C}), "inf");
  EXPECT_EQ(text_of(std::complex<float>(1, -0.5F)), "(1,-0.5)");
  EXPECT_EQ(text_of(std::complex<double>(NAN, 2)), "(nan,2)");
  const uint8_t bytes[3] = {0x01, 0xAB, 0xFF};
  EXPECT_EQ(element_text(opaque(3), reinterpret_cast<const std::byte*>(bytes)), "0x01abff");
}

TEST(SameElement, ComparesBits) {
  EXPECT_TRUE(same(1.0F, 1.0F));
  EXPECT_FALSE(same(0.0F, -0.0F));
  EXPECT_FALSE(same(uint64_t{1}, uint64_t{2}));
}

TEST(SameElement, TakesAnyNanForAnyOther) {
  EXPECT_TRUE(same(std::nanf(""), std::bit_cast<float>(0xFFC12345U)));
  EXPECT_TRUE(same(std::nan(""), -std::nan("1")));
  EXPECT_TRUE(same(float16{0x7E00}, float16{0xFC01}));
  EXPECT_TRUE(same(bfloat16{0x7FC0}, bfloat16{0xFF81}));
  EXPECT_TRUE(same(float8_e4m3{0x7F}, float8_e4m3{0xFF}));
  EXPECT_TRUE(same(float8_e5m2{0x7D}, float8_e5m2{0x7F}));
  EXPECT_TRUE(same(std::complex<float>(NAN, 1), std::complex<float>(-NAN, 1)));
  EXPECT_FALSE(same(std::complex<float>(NAN, 1), std::complex<float>(NAN, 2)));
  EXPECT_FALSE(same(std::nanf(""), 1.0F));
  EXPECT_FALSE(same(uint16_t{0x7E00}, uint16_t{0xFC01}));
}

}  // namespace
}  // namespace sheaf::pictures
