// SPDX-License-Identifier: MIT
//
// float16 and bfloat16 to float and back, in a form that the compiler turns into vectors: no
// branch, no table. The way back rounds to nearest, ties to even, as support/float_bits.h does.
#if defined(SHEAF_CPU_SMALL_FLOAT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_SMALL_FLOAT_INL
#undef SHEAF_CPU_SMALL_FLOAT_INL
#else
#define SHEAF_CPU_SMALL_FLOAT_INL
#endif

#include <bit>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

struct Float16 {
  static HWY_INLINE float widen(uint16_t bits) {
    const uint32_t magnitude = uint32_t{bits} & 0x7FFFU;
    const uint32_t sign = (uint32_t{bits} & 0x8000U) << 16;
    // With the exponent field moved over, the value is 2^112 times too small; subnormals come out
    // right as well. Infinities and NaN keep a full exponent field.
    const float finite = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    const uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0U;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(finite) | special | sign);
  }
  static HWY_INLINE uint16_t narrow(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    const uint32_t sign = (bits >> 16) & 0x8000U;
    const uint32_t even = (magnitude >> 13) & 1U;
    const uint32_t normal = (magnitude + 0xFFFU + even - (112U << 23)) >> 13;
    // Below 2^-14: next to 0.5, a float's last place is that of a float16 subnormal.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3F000000U;
    uint32_t result = magnitude < 0x38800000U ? subnormal : normal;
    result = magnitude >= 0x477FF000U ? 0x7C00U : result;  // rounds to 2^16 or more: infinity
    result |= sign;
    return static_cast<uint16_t>(magnitude > 0x7F800000U ? 0x7E00U : result);  // the one NaN
  }
};

struct BFloat16 {
  static HWY_INLINE float widen(uint16_t bits) {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }
  static HWY_INLINE uint16_t narrow(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    return static_cast<uint16_t>(nan ? 0x7FC0U : rounded);
  }
};

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
