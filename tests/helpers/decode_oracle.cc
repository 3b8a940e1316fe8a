// SPDX-License-Identifier: MIT
#include "helpers/decode_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "helpers/small_float.h"

namespace oracle {
namespace {

using sheaf::Dims;
using sheaf::DType;
using sheaf::EncodedSpec;
using sheaf::Encoding;
using sheaf::TensorSpec;
using Real = long double;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

// What is left of a product or sum of floats: it has room for twice their digits, so that it is
// rounded once.
Real in_f32(Real value) { return static_cast<float>(value); }

int byte_at(const std::byte* at) { return std::to_integer<int>(*at); }
int signed_byte_at(const std::byte* at) {
  return byte_at(at) < 128 ? byte_at(at) : byte_at(at) - 256;
}
Real half_at(const std::byte* at) {
  return SmallFloat::of(sheaf::f16)
      .value(static_cast<uint32_t>(byte_at(at) + 256 * byte_at(at + 1)));
}
Real float_at(const std::byte* at) {
  float value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Code `i` of codes that are packed from the lowest bits on, as an unsigned number.
int code_at(const std::byte* codes, int64_t i, int bits) {
  const int64_t first_bit = i * bits;
  int value = byte_at(codes + first_bit / 8);
  for (int64_t below = first_bit % 8; below > 0; --below) {
    value /= 2;
  }
  return value % (1 << bits);
}
int in_twos_complement(int code, int bits) {
  return code < (1 << bits) / 2 ? code : code - (1 << bits);
}

// Sign, exponent and fraction of a float without infinities and with one NaN, at negative zero.
Real unsigned_zero_float(int code, int fraction_bits, int bias) {
  if (code == 128) {
    return kNaN;
  }
  const int magnitude = code % 128;
  const int exponent = magnitude >> fraction_bits;
  const Real fraction =
      std::ldexp(static_cast<Real>(magnitude % (1 << fraction_bits)), -fraction_bits);
  const Real value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return code > 128 ? -value : value;
}

Real number_of_code(Encoding encoding, int code) {
  constexpr Real kSixteenths[] = {0, 0.5L, 1, 1.5L, 2, 3, 4, 6};
  switch (encoding) {
    case Encoding::kI8: return in_twos_complement(code, 8);
    case Encoding::kI4: return in_twos_complement(code, 4);
    case Encoding::kI2: return in_twos_complement(code, 2);
    case Encoding::kF8E4M3: return SmallFloat::of(sheaf::f8e4m3).value(static_cast<uint32_t>(code));
    case Encoding::kF8E5M2: return SmallFloat::of(sheaf::f8e5m2).value(static_cast<uint32_t>(code));
    case Encoding::kF8E4M3Fnuz: return unsigned_zero_float(code, 3, 8);
    case Encoding::kF8E5M2Fnuz: return unsigned_zero_float(code, 2, 16);
    case Encoding::kF4E2M1: return code < 8 ? kSixteenths[code] : -kSixteenths[code - 8];
    default: return code;
  }
}

// A scale or bias; u8 is an exponent.
Real scale_at(DType type, const std::byte* scales, int64_t number) {
  if (type == sheaf::u8) {
    const int code = byte_at(scales + number);
    return code == 255 ? kNaN : std::ldexp(Real{1}, code - 127);
  }
  if (type == sheaf::f32) {
    return float_at(scales + 4 * number);
  }
  if (type == sheaf::f8e4m3) {
    return SmallFloat::of(type).value(static_cast<uint32_t>(byte_at(scales + number)));
  }
  const std::byte* const at = scales + 2 * number;
  return SmallFloat::of(type).value(static_cast<uint32_t>(byte_at(at) + 256 * byte_at(at + 1)));
}

std::vector<int64_t> coordinates_of(const Dims& sizes, int64_t number) {
  std::vector<int64_t> at(static_cast<size_t>(sizes.size()));
  for (int d = sizes.size() - 1; d >= 0; --d) {
    at[static_cast<size_t>(d)] = number % sizes[d];
    number /= sizes[d];
  }
  return at;
}

// Codes with scales in tensors of their own.
Real scaled_code(const EncodedSpec& spec, Real code, const std::byte* scales,
                 const std::byte* zeros, std::vector<int64_t> at) {
  const Dims& sizes = spec.scales->sizes;
  const auto axis = static_cast<size_t>(spec.axis < 0 ? spec.axis + spec.sizes.size() : spec.axis);
  at[axis] = spec.block == 0 ? 0 : at[axis] / spec.block;
  int64_t number = 0, row = 0;
  if (element_count(sizes) != 1) {
    for (int d = 0; d < sizes.size(); ++d) {
      row = number;
      number = number * sizes[d] + at[static_cast<size_t>(d)];
    }
  }
  const int64_t column = element_count(sizes) == 1 ? 0 : at.back();
  const Real scale = scale_at(spec.scales->dtype, scales, number);
  if (!spec.zeros) {
    const auto zero = static_cast<float>(spec.usual_zero);
    return in_f32(in_f32(code - zero) * scale);
  }
  const DType type = spec.zeros->dtype;
  if (type != sheaf::u8 && type != sheaf::i8) {
    return in_f32(in_f32(code * scale) + scale_at(type, zeros, number));
  }
  const int bits = bits_of_code(spec.encoding);
  const int64_t row_bytes = spec.zeros->rank() == 0 ? 1 : spec.zeros->sizes.back();
  const int zero = code_at(zeros + row * row_bytes, column, bits);
  const Real difference =
      in_f32(code - (type == sheaf::i8 ? in_twos_complement(zero, bits) : zero));
  return in_f32(difference * scale);
}

using Block = std::array<Real, 256>;

// The formats of 32 elements: a scale, for some a minimum, for some the fifth bits, then codes.
Block block_of_32(Encoding encoding, const std::byte* at) {
  Block values{};
  const Real scale = half_at(at);
  at += 2;
  Real minimum = 0;
  const bool has_minimum = encoding == Encoding::kQ4_1 || encoding == Encoding::kQ5_1;
  if (has_minimum) {
    minimum = half_at(at);
    at += 2;
  }
  const std::byte* const fifths = at;
  const bool has_fifths = encoding == Encoding::kQ5_0 || encoding == Encoding::kQ5_1;
  at += has_fifths ? 4 : 0;
  for (int i = 0; i < 32; ++i) {
    int code = 0;
    if (encoding == Encoding::kQ8_0) {
      code = signed_byte_at(at + i);
    } else {
      code = i < 16 ? byte_at(at + i) % 16 : byte_at(at + i - 16) / 16;
      code += has_fifths ? 16 * code_at(fifths, i, 1) : 0;
      code -= has_minimum ? 0 : has_fifths ? 16 : 8;
    }
    const Real product = in_f32(scale * code);
    values[static_cast<size_t>(i)] = has_minimum ? in_f32(product + minimum) : product;
  }
  return values;
}

// Q4_K and Q5_K: eight groups of 32, each with a scale and a minimum of six bits.
Block block_of_groups(Encoding encoding, const std::byte* at) {
  const bool has_fifths = encoding == Encoding::kQ5K;
  std::array<int, 8> scales{}, minima{};
  for (size_t g = 0; g < 4; ++g) {
    const int first = byte_at(at + 4 + g), second = byte_at(at + 8 + g),
              third = byte_at(at + 12 + g);
    scales[g] = first % 64;
    minima[g] = second % 64;
    scales[g + 4] = third % 16 + first / 64 * 16;
    minima[g + 4] = third / 16 + second / 64 * 16;
  }
  const std::byte* const fifths = at + 16;
  const std::byte* codes = at + (has_fifths ? 48 : 16);
  Block values{};
  for (size_t pair = 0; pair < 4; ++pair, codes += 32) {
    for (size_t i = 0; i < 32; ++i) {
      const int byte = byte_at(codes + i);
      for (size_t upper = 0; upper < 2; ++upper) {
        const size_t g = 2 * pair + upper;
        int code = upper == 0 ? byte % 16 : byte / 16;
        code += has_fifths ? 16 * (byte_at(fifths + i) / (1 << g) % 2) : 0;
        const Real scale = in_f32(half_at(at) * scales[g]);
        const Real minimum = in_f32(half_at(at + 2) * minima[g]);
        values[32 * g + i] = in_f32(in_f32(scale * code) - minimum);
      }
    }
  }
  return values;
}

// Q6_K: two halves of four lanes of 32; 16 elements share a scale of 8 bits.
Block block_of_sixes(const std::byte* at) {
  Block values{};
  const Real all = half_at(at + 208);
  for (size_t half = 0; half < 2; ++half) {
    const std::byte* const low = at + 64 * half;
    const std::byte* const high = at + 128 + 32 * half;
    for (size_t i = 0; i < 32; ++i) {
      const int upper = byte_at(high + i);
      const std::array<int, 4> codes = {byte_at(low + i) % 16 + upper % 4 * 16,
                                        byte_at(low + 32 + i) % 16 + upper / 4 % 4 * 16,
                                        byte_at(low + i) / 16 + upper / 16 % 4 * 16,
                                        byte_at(low + 32 + i) / 16 + upper / 64 * 16};
      for (size_t lane = 0; lane < 4; ++lane) {
        const size_t element = 128 * half + 32 * lane + i;
        const Real scale = in_f32(all * signed_byte_at(at + 192 + element / 16));
        values[element] = in_f32(scale * (codes[lane] - 32));
      }
    }
  }
  return values;
}

Block block_values(Encoding encoding, const std::byte* at) {
  if (block_elements(encoding) == 32) {
    return block_of_32(encoding, at);
  }
  return encoding == Encoding::kQ6K ? block_of_sixes(at) : block_of_groups(encoding, at);
}

// Codes with the row's scale and bias before or behind them.
Real row_value(Encoding encoding, const std::byte* row, int64_t elements, int64_t element) {
  const int bits = bits_of_code(encoding);
  const bool front = encoding == Encoding::kRowU8F16Front;
  const std::byte* const scale = front ? row : row + (elements * bits + 7) / 8;
  const bool wide = encoding == Encoding::kRowU8F32;
  const Real product = in_f32(code_at(front ? row + 4 : row, element, bits) *
                              (wide ? float_at(scale) : half_at(scale)));
  return in_f32(product + (wide ? float_at(scale + 4) : half_at(scale + 2)));
}

}  // namespace

int64_t block_elements(Encoding encoding) {
  switch (encoding) {
    case Encoding::kQ8_0:
    case Encoding::kQ4_0:
    case Encoding::kQ4_1:
    case Encoding::kQ5_0:
    case Encoding::kQ5_1: return 32;
    case Encoding::kQ4K:
    case Encoding::kQ5K:
    case Encoding::kQ6K: return 256;
    default: return 0;
  }
}

int bits_of_code(Encoding encoding) {
  switch (encoding) {
    case Encoding::kU4:
    case Encoding::kI4:
    case Encoding::kF4E2M1:
    case Encoding::kRowU4F16: return 4;
    case Encoding::kU2:
    case Encoding::kI2:
    case Encoding::kRowU2F16: return 2;
    default: return block_elements(encoding) == 0 ? 8 : 0;
  }
}

bool has_own_scales(Encoding encoding) {
  switch (encoding) {
    case Encoding::kPlain:
    case Encoding::kRowU8F32:
    case Encoding::kRowU8F16Front:
    case Encoding::kRowU4F16:
    case Encoding::kRowU2F16: return false;
    default: return block_elements(encoding) == 0;
  }
}

std::vector<Encoding> all_encodings() {
  std::vector<Encoding> all;
  for (int number = 1; number <= static_cast<int>(Encoding::kQ6K); ++number) {
    all.push_back(static_cast<Encoding>(number));
  }
  return all;
}

std::vector<float> decoded_table(const EncodedSpec& spec, const std::byte* stored,
                                 const std::byte* scales, const std::byte* zeros) {
  std::vector<float> table;
  const auto add = [&](Real value) {
    table.push_back(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(value));
  };
  const int64_t block = block_elements(spec.encoding);
  for (int64_t number = 0; number < element_count(spec.sizes);) {
    const std::vector<int64_t> at = coordinates_of(spec.sizes, number);
    const std::byte* row = stored;
    for (int d = 0; d + 1 < spec.sizes.size(); ++d) {
      row += at[static_cast<size_t>(d)] * spec.stored.strides[d];
    }
    if (block != 0) {
      const int64_t bytes = sheaf::encoded_row_bytes(spec.encoding, block);
      const Block values = block_values(spec.encoding, row + at.back() / block * bytes);
      std::for_each_n(values.begin(), block, add);
      number += block;
      continue;
    }
    if (has_own_scales(spec.encoding)) {
      const int code = code_at(row, at.back(), bits_of_code(spec.encoding));
      add(scaled_code(spec, number_of_code(spec.encoding, code), scales, zeros, at));
    } else {
      add(row_value(spec.encoding, row, spec.sizes.back(), at.back()));
    }
    ++number;
  }
  return table;
}

}  // namespace oracle
