// SPDX-License-Identifier: MIT
//
// Conversions against the oracle in src/moves/convert_reference.cc: every pattern of the 8- and
// 16-bit types, and the corners of the wide ones, into every type.
#include "moves/convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace sheaf {
namespace {

constexpr DType kNumberTypes[] = {boolean, i8,  i16,  i32, i64, u8,     u16,   u32,
                                  u64,     f16, bf16, f32, f64, f8e4m3, f8e5m2};

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

std::vector<std::byte> wide_patterns(int64_t bytes_each) {
  std::vector<std::byte> bytes;
  std::mt19937_64 random(3);
  const auto add = [&](uint64_t bits) {
    const auto* first = reinterpret_cast<const std::byte*>(&bits);
    bytes.insert(bytes.end(), first, first + bytes_each);
  };
  for (int bit = 0; bit < 64; ++bit) {  // around each power of two, as integers
    for (int64_t step = -3; step <= 3; ++step) {
      add((uint64_t{1} << bit) + static_cast<uint64_t>(step));
      add(~(uint64_t{1} << bit) + static_cast<uint64_t>(step));
    }
  }
  for (const double value : {0.0,
                             -0.0,
                             0.5,
                             -0.5,
                             1.5,
                             2.5,
                             127.5,
                             128.0,
                             -128.5,
                             -129.0,
                             255.5,
                             65504.0,
                             65520.0,
                             65536.0,
                             448.0,
                             464.0,
                             480.0,
                             2147483647.5,
                             4294967296.0,
                             9.2e18,
                             1.8e19,
                             1.9e19,
                             1e300,
                             5e-324,
                             1e-40,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    for (const double sign : {1.0, -1.0}) {
      bytes_each == 8 ? append(bytes, value * sign)
                      : append(bytes, static_cast<float>(value * sign));
    }
  }
  for (int i = 0; i < 20000; ++i) {
    add(random() >> (random() % 64));
    add(random());
  }
  return bytes;
}

std::vector<std::byte> patterns(DType type) {
  std::vector<std::byte> bytes;
  if (type.bytes() > 2) {
    return wide_patterns(type.bytes());
  }
  for (uint32_t bits = 0; bits < (type.bytes() == 1 ? 0x100u : 0x10000u); ++bits) {
    type.bytes() == 1 ? append(bytes, static_cast<uint8_t>(bits))
                      : append(bytes, static_cast<uint16_t>(bits));
  }
  return bytes;
}

bool is_nan(DType type, const std::byte* element) {
  moves::WideNumber number{.number = 0};
  if (moves::wide_of(type) == moves::Wide::kDouble) {
    moves::load(type, element, 0, 1, &number);
  }
  return number.number != number.number;
}

TEST(Convert, AgreesWithTheOracle) {
  for (const DType from : kNumberTypes) {
    const std::vector<std::byte> bytes = patterns(from);
    const int64_t count = static_cast<int64_t>(bytes.size()) / from.bytes();
    std::vector<moves::WideNumber> numbers(static_cast<size_t>(count));
    moves::load(from, bytes.data(), from.bytes(), count, numbers.data());
    for (const DType to : kNumberTypes) {
      std::vector<std::byte> got(static_cast<size_t>(count * to.bytes())), expected = got;
      moves::store(to, moves::wide_of(from), numbers.data(), got.data(), to.bytes(), count);
      for (int64_t i = 0; i < count; ++i) {
        moves::convert_reference(from, bytes.data() + i * from.bytes(), to,
                                 expected.data() + i * to.bytes());
        const std::byte* a = got.data() + i * to.bytes();
        const std::byte* b = expected.data() + i * to.bytes();
        const bool same = std::memcmp(a, b, static_cast<size_t>(to.bytes())) == 0;
        // A NaN may have any sign and payload.
        ASSERT_TRUE(same || (is_nan(to, a) && is_nan(to, b)))
            << from.name() << " to " << to.name() << ", pattern " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf
