// SPDX-License-Identifier: MIT
//
// What a stored element means: the one definition of every encoding, element by element. Backends
// that decode whole rows at once are held against this by the tests. In constexpr, which code for
// devices may call; stored numbers are little-endian whatever the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sheaf/encoding.h"
#include "support/bit_cast.h"
#include "support/float_bits.h"

namespace sheaf {

constexpr uint32_t stored_u8(const std::byte* at) { return static_cast<uint32_t>(*at); }
constexpr uint32_t stored_u16(const std::byte* at) {
  return stored_u8(at) | stored_u8(at + 1) << 8;
}
constexpr uint32_t stored_u32(const std::byte* at) {
  return stored_u16(at) | stored_u16(at + 2) << 16;
}
constexpr float stored_f32(const std::byte* at) { return bit_cast<float>(stored_u32(at)); }
constexpr float stored_f16(const std::byte* at) {
  return static_cast<float>(from_float_bits(kFormatF16, static_cast<uint16_t>(stored_u16(at))));
}
constexpr float stored_bf16(const std::byte* at) { return bit_cast<float>(stored_u16(at) << 16); }

// e8m0: a power of two from 2^-127 to 2^127; all ones is NaN.
constexpr float power_of_two(uint32_t code) {
  constexpr uint32_t kHalfOfLeastNormal = 0x0040'0000;
  return code == 0xFF ? std::numeric_limits<float>::quiet_NaN()
                      : bit_cast<float>(code == 0 ? kHalfOfLeastNormal : code << 23);
}

// A float of 8 bits without infinities and negative zero, whose pattern is the NaN.
constexpr float fnuz_value(uint32_t code, int mantissa_bits) {
  const int exponent_bits = 7 - mantissa_bits;
  const int bias = 1 << (exponent_bits - 1);
  const auto fraction = static_cast<int>(code & ((1U << mantissa_bits) - 1));
  const auto exponent = static_cast<int>(code >> mantissa_bits & ((1U << exponent_bits) - 1));
  const int units = exponent == 0 ? fraction : fraction + (1 << mantissa_bits);
  const int power = (exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
  const float magnitude =
      static_cast<float>(units) * bit_cast<float>(static_cast<uint32_t>(127 + power) << 23);
  if (code == 0x80) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
constexpr float e2m1_value(uint32_t code) {
  const auto fraction = static_cast<int>(code & 1);
  const auto exponent = static_cast<int>(code >> 1 & 3);
  const int halves = exponent == 0 ? fraction : (2 + fraction) << (exponent - 1);
  const float magnitude = 0.5F * static_cast<float>(halves);
  return (code & 8) != 0 ? -magnitude : magnitude;
}

// The bits of code `element` of packed codes, as an unsigned number.
template <int kBits>
constexpr uint32_t packed_code(const std::byte* codes, int64_t element) {
  constexpr int kPerByte = 8 / kBits;
  const uint32_t byte = stored_u8(codes + element / kPerByte);
  return byte >> (kBits * static_cast<int>(element % kPerByte)) & ((1U << kBits) - 1);
}
template <int kBits>
constexpr int signed_code(uint32_t code) {
  constexpr uint32_t kSign = 1U << (kBits - 1);
  return static_cast<int>(code ^ kSign) - static_cast<int>(kSign);
}

// Codes that are numbers, and how many bits each has. 0 bits: the encoding has blocks of its own.
constexpr int code_bits(Encoding encoding) {
  switch (encoding) {
    case Encoding::kU8:
    case Encoding::kI8:
    case Encoding::kF8E4M3:
    case Encoding::kF8E4M3Fnuz:
    case Encoding::kF8E5M2:
    case Encoding::kF8E5M2Fnuz:
    case Encoding::kRowU8F32:
    case Encoding::kRowU8F16Front: return 8;
    case Encoding::kU4:
    case Encoding::kI4:
    case Encoding::kF4E2M1:
    case Encoding::kRowU4F16: return 4;
    case Encoding::kU2:
    case Encoding::kI2:
    case Encoding::kRowU2F16: return 2;
    case Encoding::kPlain:
    case Encoding::kQ8_0:
    case Encoding::kQ4_0:
    case Encoding::kQ4_1:
    case Encoding::kQ5_0:
    case Encoding::kQ5_1:
    case Encoding::kQ4K:
    case Encoding::kQ5K:
    case Encoding::kQ6K: break;
  }
  return 0;
}

template <Encoding kEncoding>
inline constexpr int kCodesPerByte = code_bits(kEncoding) == 0 ? 1 : 8 / code_bits(kEncoding);

// The number that a code stands for, exactly.
template <Encoding kEncoding>
constexpr float code_value(const std::byte* codes, int64_t element) {
  const uint32_t code = packed_code<code_bits(kEncoding)>(codes, element);
  if constexpr (kEncoding == Encoding::kI8 || kEncoding == Encoding::kI4 ||
                kEncoding == Encoding::kI2) {
    return static_cast<float>(signed_code<code_bits(kEncoding)>(code));
  } else if constexpr (kEncoding == Encoding::kF8E4M3) {
    return static_cast<float>(from_float_bits(kFormatF8E4M3, static_cast<uint16_t>(code)));
  } else if constexpr (kEncoding == Encoding::kF8E5M2) {
    return static_cast<float>(from_float_bits(kFormatF8E5M2, static_cast<uint16_t>(code)));
  } else if constexpr (kEncoding == Encoding::kF8E4M3Fnuz) {
    return fnuz_value(code, 3);
  } else if constexpr (kEncoding == Encoding::kF8E5M2Fnuz) {
    return fnuz_value(code, 2);
  } else if constexpr (kEncoding == Encoding::kF4E2M1) {
    return e2m1_value(code);
  } else {
    return static_cast<float>(code);
  }
}

// Scale and bias that stand in a row of codes, and where its codes begin.
struct RowScale {
  int64_t codes;  // bytes from the row's first
  float scale, bias;
};
template <Encoding kEncoding>
constexpr RowScale row_scale(const std::byte* row, int64_t elements) {
  if constexpr (kEncoding == Encoding::kRowU8F16Front) {
    return {4, stored_f16(row), stored_f16(row + 2)};
  } else {
    constexpr int64_t kPerByte = kCodesPerByte<kEncoding>;
    const std::byte* const behind = row + (elements + kPerByte - 1) / kPerByte;
    if constexpr (kEncoding == Encoding::kRowU8F32) {
      return {0, stored_f32(behind), stored_f32(behind + 4)};
    } else {
      return {0, stored_f16(behind), stored_f16(behind + 2)};
    }
  }
}

// Elements and bytes of a block of GGUF.
struct BlockShape {
  int elements, bytes;
};
constexpr BlockShape block_shape(Encoding encoding) {
  switch (encoding) {
    case Encoding::kQ8_0: return {32, 34};
    case Encoding::kQ4_0: return {32, 18};
    case Encoding::kQ4_1: return {32, 20};
    case Encoding::kQ5_0: return {32, 22};
    case Encoding::kQ5_1: return {32, 24};
    case Encoding::kQ4K: return {256, 144};
    case Encoding::kQ5K: return {256, 176};
    case Encoding::kQ6K: return {256, 210};
    default: break;
  }
  return {0, 0};
}

template <Encoding kEncoding>
inline constexpr BlockShape kBlockOf = block_shape(kEncoding);

// Of 32 codes of 4 bits the first 16 are in the low halves of 16 bytes, the others in the high
// ones.
constexpr int halves_code(const std::byte* codes, int i) {
  const uint32_t byte = stored_u8(codes + i % 16);
  return static_cast<int>(i < 16 ? byte & 15 : byte >> 4);
}

// The 6-bit scale and minimum of the 32 elements that are group `g` of Q4_K and Q5_K: eight of each
// in 12 bytes, the upper two bits of the last four being in the first eight bytes.
struct GroupScale {
  int scale, minimum;
};
constexpr GroupScale group_scale(const std::byte* packed, int g) {
  if (g < 4) {
    return {static_cast<int>(stored_u8(packed + g) & 63),
            static_cast<int>(stored_u8(packed + g + 4) & 63)};
  }
  const uint32_t low = stored_u8(packed + g + 4);
  return {static_cast<int>((low & 15) | stored_u8(packed + g - 4) >> 6 << 4),
          static_cast<int>(low >> 4 | stored_u8(packed + g) >> 6 << 4)};
}

// Element `i` of a block: each product and each sum rounds once, in f32.
template <Encoding kEncoding>
constexpr float block_element(const std::byte* block, int i) {
  const float d = stored_f16(block + (kEncoding == Encoding::kQ6K ? 208 : 0));
  if constexpr (kEncoding == Encoding::kQ8_0) {
    return d * static_cast<float>(signed_code<8>(stored_u8(block + 2 + i)));
  } else if constexpr (kEncoding == Encoding::kQ4_0) {
    return d * static_cast<float>(halves_code(block + 2, i) - 8);
  } else if constexpr (kEncoding == Encoding::kQ4_1) {
    return d * static_cast<float>(halves_code(block + 4, i)) + stored_f16(block + 2);
  } else if constexpr (kEncoding == Encoding::kQ5_0 || kEncoding == Encoding::kQ5_1) {
    constexpr bool kMinimum = kEncoding == Encoding::kQ5_1;
    const std::byte* const high = block + (kMinimum ? 4 : 2);
    const int fifth = static_cast<int>(stored_u32(high) >> i & 1) << 4;
    const int code = halves_code(high + 4, i) | fifth;
    return kMinimum ? d * static_cast<float>(code) + stored_f16(block + 2)
                    : d * static_cast<float>(code - 16);
  } else if constexpr (kEncoding == Encoding::kQ4K || kEncoding == Encoding::kQ5K) {
    constexpr bool kFifth = kEncoding == Encoding::kQ5K;
    const int g = i / 32;
    const GroupScale group = group_scale(block + 4, g);
    const int at = (kFifth ? 48 : 16) + g / 2 * 32 + i % 32;
    const uint32_t byte = stored_u8(block + at);
    const uint32_t fifth = kFifth ? stored_u8(block + 16 + i % 32) >> g & 1 : 0;
    const auto code = static_cast<float>((g % 2 == 0 ? byte & 15 : byte >> 4) | fifth << 4);
    const float scale = d * static_cast<float>(group.scale);
    const float minimum = stored_f16(block + 2) * static_cast<float>(group.minimum);
    return scale * code - minimum;
  } else {
    static_assert(kEncoding == Encoding::kQ6K);
    const int half = i / 128;
    const int g = i % 128 / 32;
    const int low_at = half * 64 + g % 2 * 32 + i % 32;
    const int high_at = 128 + half * 32 + i % 32;
    const int scale_at = 192 + half * 8 + g * 2 + i % 32 / 16;
    const uint32_t low = stored_u8(block + low_at);
    const uint32_t high = stored_u8(block + high_at) >> (2 * g) & 3;
    const int code = static_cast<int>((g < 2 ? low & 15 : low >> 4) | high << 4) - 32;
    const int scale = signed_code<8>(stored_u8(block + scale_at));
    return d * static_cast<float>(scale) * static_cast<float>(code);
  }
}

}  // namespace sheaf
