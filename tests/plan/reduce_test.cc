// SPDX-License-Identifier: MIT
//
// The reduction of two elements: bits, not just values.
#include "plan/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "helpers/rng.h"
#include "helpers/scatter_oracle.h"
#include "helpers/small_float.h"

namespace sheaf {
namespace {

constexpr Reduction kAll[] = {Reduction::kAdd, Reduction::kSub, Reduction::kMul, Reduction::kMin,
                              Reduction::kMax};

template <class T>
T joined(DType type, Reduction reduction, T cell, T update) {
  std::byte cells[sizeof(T)], updates[sizeof(T)];
  std::memcpy(cells, &cell, sizeof cell);
  std::memcpy(updates, &update, sizeof update);
  reduce_row(type, reduction)(cells, updates, sizeof(T));
  std::memcpy(&cell, cells, sizeof cell);
  return cell;
}

uint32_t join_f32(Reduction reduction, float a, float b) {
  return std::bit_cast<uint32_t>(joined(f32, reduction, a, b));
}

TEST(ReduceNan, IsAlwaysTheSame) {
  const float payload = std::bit_cast<float>(0xFFC12345u);
  const float signalling = std::bit_cast<float>(0x7F800001u);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Reduction reduction : kAll) {
    for (const float nan : {payload, signalling}) {
      EXPECT_EQ(join_f32(reduction, nan, 1), 0x7FC00000u) << to_string(reduction);
      EXPECT_EQ(join_f32(reduction, 1, nan), 0x7FC00000u) << to_string(reduction);
      EXPECT_EQ(join_f32(reduction, nan, kInfinity), 0x7FC00000u) << to_string(reduction);
    }
  }
  EXPECT_EQ(join_f32(Reduction::kAdd, kInfinity, -kInfinity), 0x7FC00000u);
  EXPECT_EQ(join_f32(Reduction::kSub, kInfinity, kInfinity), 0x7FC00000u);
  EXPECT_EQ(join_f32(Reduction::kMul, 0, -kInfinity), 0x7FC00000u);
  EXPECT_EQ(std::bit_cast<uint64_t>(joined(f64, Reduction::kMax, -std::nan("1"), 2.0)),
            0x7FF8000000000000u);
  EXPECT_EQ(joined(f16, Reduction::kAdd, uint16_t{0xFE01}, uint16_t{0}), 0x7E00);
  EXPECT_EQ(joined(bf16, Reduction::kMin, uint16_t{0}, uint16_t{0xFFFF}), 0x7FC0);
  EXPECT_EQ(joined(f8e5m2, Reduction::kMul, uint8_t{0xFC}, uint8_t{0}), 0x7E);
  EXPECT_EQ(joined(f8e4m3, Reduction::kAdd, uint8_t{0xFF}, uint8_t{0}), 0x7F);
  // -448 - 448: too large for a format without infinities, on the negative side.
  EXPECT_EQ(joined(f8e4m3, Reduction::kAdd, uint8_t{0xFE}, uint8_t{0xFE}), 0x7F);
}

// What validation refuses has no row, no number and no remainder, and is safe all the same.
TEST(Reduce, WhatATypeCannotDoIsNotThere) {
  for (const Reduction reduction : {Reduction::kMin, Reduction::kMax}) {
    EXPECT_EQ(reduce_row(c64, reduction), nullptr);
    EXPECT_EQ(reduce_row(c128, reduction), nullptr);
    std::vector<std::byte> element(16, std::byte{0xEE});
    neutral_element(c128, reduction, element.data());
    EXPECT_EQ(element, std::vector<std::byte>(16));
  }
  auto truth = std::byte{1};
  divide_elements(boolean, &truth, 1, 1, 3);
  EXPECT_EQ(truth, std::byte{1});
}

TEST(Reduce, NoneIsACopyForEveryType) {
  EXPECT_EQ(joined(f64, Reduction::kNone, 1.0, 2.0), 2.0);
  EXPECT_EQ(joined(opaque(8), Reduction::kNone, uint64_t{1}, uint64_t{2}), 2U);
}

TEST(Reduce, RoundingBelowAFormatWithoutInfinitiesGivesTheOneNan) {
  EXPECT_EQ(narrowed<float8_e4m3>(-1000.0F).bits, 0x7F);
  EXPECT_EQ(narrowed<float8_e4m3>(1000.0F).bits, 0x7F);
  EXPECT_EQ(narrowed<float8_e4m3>(-448.0F).bits, 0xFE);
}

TEST(ReduceZero, KeepsItsSignByTheRules) {
  constexpr uint32_t kMinus = 0x80000000u;
  EXPECT_EQ(join_f32(Reduction::kAdd, -0.0F, -0.0F), kMinus);
  EXPECT_EQ(join_f32(Reduction::kAdd, -0.0F, 0.0F), 0u);
  EXPECT_EQ(join_f32(Reduction::kSub, -0.0F, 0.0F), kMinus);
  EXPECT_EQ(join_f32(Reduction::kMul, -0.0F, 2), kMinus);
  // Equal to each other: what is there stays.
  for (const Reduction reduction : {Reduction::kMin, Reduction::kMax}) {
    EXPECT_EQ(join_f32(reduction, -0.0F, 0.0F), kMinus);
    EXPECT_EQ(join_f32(reduction, 0.0F, -0.0F), 0u);
  }
}

TEST(ReduceInteger, WrapsAround) {
  EXPECT_EQ(joined(i8, Reduction::kAdd, int8_t{127}, int8_t{1}), -128);
  EXPECT_EQ(joined(i8, Reduction::kMul, int8_t{-128}, int8_t{-1}), -128);
  EXPECT_EQ(joined(u8, Reduction::kSub, uint8_t{0}, uint8_t{1}), 255);
  EXPECT_EQ(joined(i16, Reduction::kMul, int16_t{-32768}, int16_t{-32768}), 0);
  EXPECT_EQ(joined(u16, Reduction::kMul, uint16_t{65535}, uint16_t{65535}), 1);
  EXPECT_EQ(joined(i32, Reduction::kSub, INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(joined(i64, Reduction::kAdd, INT64_MAX, int64_t{1}), INT64_MIN);
  EXPECT_EQ(joined(i64, Reduction::kMul, INT64_MIN, int64_t{-1}), INT64_MIN);
  EXPECT_EQ(joined(u64, Reduction::kMul, UINT64_MAX, UINT64_MAX), 1u);
  EXPECT_EQ(joined(u64, Reduction::kMax, uint64_t{1}, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(joined(i64, Reduction::kMax, int64_t{1}, int64_t{-1}), 1);
}

TEST(ReduceBool, IsLogicAndWritesZeroOrOne) {
  for (const uint8_t a : {uint8_t{0}, uint8_t{1}, uint8_t{200}}) {
    for (const uint8_t b : {uint8_t{0}, uint8_t{1}, uint8_t{3}}) {
      const bool x = a != 0, y = b != 0;
      EXPECT_EQ(joined(boolean, Reduction::kAdd, a, b), x || y);
      EXPECT_EQ(joined(boolean, Reduction::kMax, a, b), x || y);
      EXPECT_EQ(joined(boolean, Reduction::kMul, a, b), x && y);
      EXPECT_EQ(joined(boolean, Reduction::kMin, a, b), x && y);
      EXPECT_EQ(joined(boolean, Reduction::kSub, a, b), x != y);
      EXPECT_EQ(joined(boolean, Reduction::kNone, a, b), b) << "copied as it is";
    }
  }
}

TEST(ReduceComplex, MultipliesPartByPart) {
  using C = std::complex<float>;
  EXPECT_EQ(joined(c64, Reduction::kMul, C(1, 2), C(3, -4)), C(11, 2));
  EXPECT_EQ(joined(c64, Reduction::kAdd, C(1, 2), C(3, -4)), C(4, -2));
  EXPECT_EQ(joined(c64, Reduction::kSub, C(1, 2), C(3, -4)), C(-2, 6));
  const C odd = joined(c64, Reduction::kMul, C(std::numeric_limits<float>::infinity(), 0), C(0, 1));
  EXPECT_EQ(std::bit_cast<uint32_t>(odd.real()), 0x7FC00000u) << "inf times 0";
  EXPECT_EQ(reduce_row(c128, Reduction::kMin), nullptr);
  EXPECT_EQ(reduce_row(c64, Reduction::kMax), nullptr);
}

// All pairs of the 8-bit types.
TEST(ReduceSmallFloats, EightBitsExhaustively) {
  for (const DType type : {f8e4m3, f8e5m2}) {
    const auto& format = oracle::SmallFloat::of(type);
    for (const Reduction reduction : kAll) {
      for (uint32_t a = 0; a < 256; ++a) {
        for (uint32_t b = 0; b < 256; ++b) {
          auto expected = static_cast<std::byte>(a);
          const auto update = static_cast<std::byte>(b);
          oracle::join(type, reduction, &expected, &update);
          ASSERT_EQ(joined(type, reduction, static_cast<uint8_t>(a), static_cast<uint8_t>(b)),
                    static_cast<uint8_t>(expected))
              << type.name() << " " << to_string(reduction) << " of " << format.value(a) << " and "
              << format.value(b);
        }
      }
    }
  }
}

TEST(ReduceSmallFloats, SixteenBitsSampled) {
  Rng rng(16);
  for (const DType type : {f16, bf16}) {
    for (const Reduction reduction : kAll) {
      for (int i = 0; i < 60000; ++i) {
        auto a = static_cast<uint16_t>(rng.next());
        // Half of the pairs are near each other: there sums cancel.
        const auto b = static_cast<uint16_t>(
            i % 2 == 0 ? rng.next() : static_cast<uint64_t>(a ^ (rng.next() & 0x83FF)));
        uint16_t expected = a;
        oracle::join(type, reduction, reinterpret_cast<std::byte*>(&expected),
                     reinterpret_cast<const std::byte*>(&b));
        ASSERT_EQ(joined(type, reduction, a, b), expected)
            << type.name() << " " << to_string(reduction) << " of " << a << " and " << b;
      }
    }
  }
}

template <class T>
T neutral(DType type, Reduction reduction) {
  std::byte bytes[kMaxElementBytes] = {};
  neutral_element(type, reduction, bytes);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

TEST(Neutral, IsTheNumberThatChangesNothing) {
  EXPECT_EQ(neutral<uint32_t>(f32, Reduction::kAdd), 0x80000000u) << "-0, so that -0 stays -0";
  EXPECT_EQ(neutral<uint32_t>(f32, Reduction::kMean), 0x80000000u);
  EXPECT_EQ(neutral<uint32_t>(f32, Reduction::kSub), 0u);
  EXPECT_EQ(neutral<float>(f32, Reduction::kMul), 1.0F);
  EXPECT_EQ(neutral<float>(f32, Reduction::kMin), std::numeric_limits<float>::infinity());
  EXPECT_EQ(neutral<double>(f64, Reduction::kMax), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(neutral<uint8_t>(f8e4m3, Reduction::kMin), 0x7E) << "448: there is no infinity";
  EXPECT_EQ(neutral<uint8_t>(f8e4m3, Reduction::kMax), 0xFE);
  EXPECT_EQ(neutral<uint16_t>(f16, Reduction::kMax), 0xFC00);
  EXPECT_EQ(neutral<int8_t>(i8, Reduction::kMin), 127);
  EXPECT_EQ(neutral<int64_t>(i64, Reduction::kMax), INT64_MIN);
  EXPECT_EQ(neutral<uint64_t>(u64, Reduction::kMin), UINT64_MAX);
  EXPECT_EQ(neutral<uint16_t>(u16, Reduction::kMax), 0);
  EXPECT_EQ(neutral<int32_t>(i32, Reduction::kMul), 1);
  EXPECT_EQ(neutral<int32_t>(i32, Reduction::kAdd), 0);
  EXPECT_EQ(neutral<uint8_t>(boolean, Reduction::kMin), 1);
  EXPECT_EQ(neutral<uint8_t>(boolean, Reduction::kMax), 0);
  EXPECT_EQ(neutral<std::complex<float>>(c64, Reduction::kMul), std::complex<float>(1, 0));
}

// Joining any element of 8 bits to it gives that element (or its negative, or the one NaN).
TEST(Neutral, OfEveryEightBitType) {
  for (const DType type : {boolean, i8, u8, f8e4m3, f8e5m2}) {
    for (const Reduction reduction : kAll) {
      for (uint32_t bits = 0; bits < 256; ++bits) {
        const auto start = neutral<uint8_t>(type, reduction);
        const auto update = static_cast<uint8_t>(bits);
        auto expected = update;
        if (type == boolean) {
          expected = bits != 0;
        } else if (reduction == Reduction::kSub) {
          const bool zero = (bits & 0x7Fu) == 0;  // 0 - 0 and 0 - -0 are +0
          expected = static_cast<uint8_t>(type.is_integer() ? 256 - bits : zero ? 0 : bits ^ 0x80u);
        }
        if (!type.is_integer() && type != boolean && oracle::SmallFloat::of(type).is_nan(bits)) {
          expected = static_cast<uint8_t>(oracle::SmallFloat::of(type).nan());
        }
        ASSERT_EQ(joined(type, reduction, start, update), expected)
            << type.name() << " " << to_string(reduction) << " of " << bits;
      }
    }
  }
}

template <class T>
T mean(DType type, T sum, int64_t count) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &sum, sizeof sum);
  divide_elements(type, bytes, type.bytes(), 1, count);
  std::memcpy(&sum, bytes, sizeof sum);
  return sum;
}

TEST(Mean, OfIntegersIsRoundedDown) {
  EXPECT_EQ(mean(i32, 7, 2), 3);
  EXPECT_EQ(mean(i32, -7, 2), -4);
  EXPECT_EQ(mean(i32, -8, 2), -4);
  EXPECT_EQ(mean(i8, int8_t{-1}, 100), -1);
  EXPECT_EQ(mean(i8, int8_t{-128}, 1000), -1);
  EXPECT_EQ(mean(i64, INT64_MIN, 3), INT64_MIN / 3 - 1);
  EXPECT_EQ(mean(i64, INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(mean(u64, UINT64_MAX, 2), UINT64_MAX / 2) << "not a negative number";
  EXPECT_EQ(mean(u8, uint8_t{255}, 2), 127);
}

TEST(Mean, OfFloatsIsRoundedOnce) {
  EXPECT_EQ(mean(f32, 1.0F, 3), 1.0F / 3.0F);
  EXPECT_EQ(mean(f64, 1.0, 3), 1.0 / 3.0);
  EXPECT_EQ(mean(f16, uint16_t{0x3C00}, 3), 0x3555);
  EXPECT_EQ(mean(c64, std::complex<float>(1, -2), 4), std::complex<float>(0.25F, -0.5F));
  EXPECT_EQ(std::bit_cast<uint32_t>(mean(f32, std::bit_cast<float>(0xFFFFFFFFu), 2)), 0x7FC00000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(mean(f32, -0.0F, 2)), 0x80000000u);
}

// bfloat16 takes a way of its own, which must round as all other formats do.
TEST(Narrow, BFloat16HasTheBitsOfTheDefinition) {
  const FloatFormat format = SmallFloat<bfloat16>::kFormat;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      const auto value = std::bit_cast<float>(upper << 16 | lower);
      ASSERT_EQ(narrowed<bfloat16>(value).bits, to_float_bits(format, one_nan(double{value})))
          << value;
    }
    const auto narrow = static_cast<uint16_t>(upper);
    const auto exact = static_cast<float>(from_float_bits(format, narrow));
    const float wide = widened(bfloat16{narrow});
    ASSERT_TRUE(wide == exact ? std::signbit(wide) == std::signbit(exact)
                              : std::isnan(wide) && std::isnan(exact));
  }
}

// A division of floats where the definition divides doubles: no second rounding may show.
TEST(Mean, OfFloatsSideBySideHasTheBitsOfTheDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 100'000; ++round) {
    const auto sum = std::bit_cast<float>(static_cast<uint32_t>(random()) >> (round % 9));
    const int64_t count = 1 + (static_cast<int64_t>(random()) >> (round % 32));
    ASSERT_EQ(std::bit_cast<uint32_t>(mean(f32, sum, count)),
              std::bit_cast<uint32_t>(mean_of(sum, count)))
        << sum << " / " << count;
  }
}

}  // namespace
}  // namespace sheaf
