// SPDX-License-Identifier: MIT
//
// The rows of a bag as vectors of floats: one source for each kind of row.
#if defined(SHEAF_CPU_ROW_SOURCES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_ROW_SOURCES_INL
#undef SHEAF_CPU_ROW_SOURCES_INL
#else
#define SHEAF_CPU_ROW_SOURCES_INL
#endif

#include <array>

#include "backends/cpu/scatter/small_float-inl.h"
#include "plan/bag.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Words = hn::Rebind<uint32_t, Floats>;
using Ints = hn::Rebind<int32_t, Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;

#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr int kMostSums = 16;  // of 32 registers
#else
constexpr int kMostSums = 8;  // of 16
#endif

// Whether f16 and f32 are converted by one instruction, which rounds as float_bits.h does. SVE's
// way back was not tried.
#undef SHEAF_CPU_CONVERTS_F16
#if (HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON) || \
    (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C))
#define SHEAF_CPU_CONVERTS_F16 1
#else
#define SHEAF_CPU_CONVERTS_F16 0
#endif

// A source reads elements of one row as floats, from element `e` on: vector(i) those from e + i on,
// one(e) that element. kWhole: the 16 elements that i is among, from a multiple of 16 on, are all
// wanted: NEON loads narrow ones once for several vectors. It is made of where element `e` is
// stored and how many bytes from there the row's scale is. kMostVectors: how many are joined at a
// time without registers going to memory (frames of SVE registers are more than valgrind 3.19 can
// read). kBits: of an element. kFirst: the byte of the row that has the first.

// Where the scale of a row is, in bytes from element e; 0 where there is none.
template <class Source>
HWY_INLINE int64_t scale_from(int64_t elements, int64_t e) {
  if constexpr (!Source::kScaled) {
    return 0;
  }
  const int64_t codes = (elements * Source::kBits + 7) / 8;
  return (Source::kFirst > 0 ? -Source::kFirst : codes) - e * Source::kBits / 8;
}

struct FloatRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 32, kFirst = 0;
  static constexpr bool kScaled = false;
  HWY_INLINE FloatRow(const std::byte* at, int64_t /*scale*/)
      : first(reinterpret_cast<const float*>(at)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats d, int64_t i) const {
    return hn::LoadU(d, first + i);
  }
  HWY_INLINE float one(int64_t /*e*/) const {
    float value;
    __builtin_memcpy(&value, first, sizeof value);
    return value;
  }
  const float* first;
};

struct HalfRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 16, kFirst = 0;
  static constexpr bool kScaled = false;
  HWY_INLINE HalfRow(const std::byte* at, int64_t /*scale*/)
      : first(reinterpret_cast<const uint16_t*>(at)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats d, int64_t i) const {
#if SHEAF_CPU_CONVERTS_F16 || HWY_ARCH_ARM_A64
    // One instruction. Of a NaN it may change the payload, which is lost in the end anyway.
    const hn::Rebind<hwy::float16_t, Floats> halves;
    return hn::PromoteTo(d, hn::BitCast(halves, hn::LoadU(Halves(), first + i)));
#else
    // As Float16::widen.
    const Words words;
    const auto bits = hn::PromoteTo(words, hn::LoadU(Halves(), first + i));
    const auto magnitude = hn::And(bits, hn::Set(words, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto finite = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112F));
    const Ints ints;  // all instruction sets compare these
    const auto special = hn::IfThenElseZero(
        hn::Gt(hn::BitCast(ints, magnitude), hn::Set(ints, 0x7BFF)), hn::Set(ints, 0x7F800000));
    return hn::Or(hn::Or(finite, hn::BitCast(d, special)), hn::BitCast(d, sign));
#endif
  }
  HWY_INLINE float one(int64_t /*e*/) const {
    uint16_t bits;
    __builtin_memcpy(&bits, first, sizeof bits);
    return Float16::widen(bits);
  }
  const uint16_t* first;
};

struct BrainRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 16, kFirst = 0;
  static constexpr bool kScaled = false;
  HWY_INLINE BrainRow(const std::byte* at, int64_t /*scale*/)
      : first(reinterpret_cast<const uint16_t*>(at)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats d, int64_t i) const {
#if HWY_TARGET == HWY_NEON
    if constexpr (kWhole) {
      const hn::Full128<uint16_t> eight;
      const auto bits = hn::LoadU(eight, first + i / 8 * 8);
      return hn::BitCast(d, i % 8 == 0 ? hn::InterleaveLower(eight, hn::Zero(eight), bits)
                                       : hn::InterleaveUpper(eight, hn::Zero(eight), bits));
    }
#endif
    const auto bits = hn::PromoteTo(Words(), hn::LoadU(Halves(), first + i));
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  }
  HWY_INLINE float one(int64_t /*e*/) const {
    uint16_t bits;
    __builtin_memcpy(&bits, first, sizeof bits);
    return BFloat16::widen(bits);
  }
  const uint16_t* first;
};

// What all codes of a row are multiplied by, and what is added then.
struct ScaleAndBias {
  float scale, bias;
};

template <Encoding kEncoding>
HWY_INLINE ScaleAndBias read_scale(const std::byte* at) {
  if constexpr (kEncoding == Encoding::kRowU8F32) {
    ScaleAndBias read;
    __builtin_memcpy(&read, at, sizeof read);
    return read;
  } else {
#if SHEAF_CPU_CONVERTS_F16
    const hn::CappedTag<float, 2> two;
    const hn::Rebind<hwy::float16_t, decltype(two)> halves;
    const hn::Repartition<uint8_t, decltype(halves)> bytes;
    const auto loaded = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(at));
    const auto both = hn::PromoteTo(two, hn::BitCast(halves, loaded));
    return {hn::GetLane(both), hn::ExtractLane(both, 1)};
#else
    uint16_t bits[2];
    __builtin_memcpy(bits, at, sizeof bits);
    return {Float16::widen(bits[0]), Float16::widen(bits[1])};
#endif
  }
}

// The product of a code and a scale of f16 is a float, so nothing is lost if it is not rounded: one
// instruction does both steps. Scales of f32 need two.
template <Encoding kEncoding>
HWY_INLINE Vector scaled_floats(Vector codes, ScaleAndBias by) {
  const Floats d;
  const auto scale = hn::Set(d, by.scale);
  const auto bias = hn::Set(d, by.bias);
  return kEncoding == Encoding::kRowU8F32 ? hn::Add(hn::Mul(codes, scale), bias)
                                          : hn::MulAdd(codes, scale, bias);
}

template <Encoding kEncoding>
HWY_INLINE Vector scaled_ints(hn::Vec<Ints> codes, ScaleAndBias by) {
  return scaled_floats<kEncoding>(hn::ConvertTo(Floats(), codes), by);
}

template <Encoding kEncoding>
HWY_INLINE Vector scaled(hn::Vec<Bytes> codes, ScaleAndBias by) {
  return scaled_ints<kEncoding>(hn::PromoteTo(Ints(), codes), by);
}

#if HWY_TARGET == HWY_NEON
using Sixteen = hn::Full128<uint8_t>;

// Of 16 bytes the four from number i % 16 on, which is a multiple of 4.
HWY_INLINE hn::Vec<Ints> four_of(hn::Vec<Sixteen> bytes, int64_t i) {
  static constexpr auto kPlaces = [] {
    std::array<uint8_t, 64> places{};
    for (size_t at = 0; at < places.size(); ++at) {
      places[at] = static_cast<uint8_t>(at % 4 == 0 ? at / 4 : 0x80);  // 0x80: a zero
    }
    return places;
  }();
  const auto places = hn::LoadU(Sixteen(), kPlaces.data() + i % 16 * 4);
  return hn::BitCast(Ints(), hn::TableLookupBytesOr0(bytes, places));
}
#endif

// Codes of a byte with scale and bias in the row.
template <Encoding kEncoding>
struct ByteRow {
  static constexpr int kMostVectors = 8;
  static constexpr int64_t kBits = 8, kFirst = kEncoding == Encoding::kRowU8F16Front ? 4 : 0;
  static constexpr bool kScaled = true;
  HWY_INLINE ByteRow(const std::byte* at, int64_t scale)
      : codes(reinterpret_cast<const uint8_t*>(at)), by(read_scale<kEncoding>(at + scale)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats /*d*/, int64_t i) const {
#if HWY_TARGET == HWY_NEON
    if constexpr (kWhole) {
      return scaled_ints<kEncoding>(four_of(hn::LoadU(Sixteen(), codes + i / 16 * 16), i), by);
    }
#endif
    return scaled<kEncoding>(hn::LoadU(Bytes(), codes + i), by);
  }
  HWY_INLINE float one(int64_t /*e*/) const {
    const float product = static_cast<float>(codes[0]) * by.scale;
    return product + by.bias;
  }
  const uint8_t* codes;
  ScaleAndBias by;
};

#undef SHEAF_CPU_LOOKS_UP_CODES
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define SHEAF_CPU_LOOKS_UP_CODES 1
#else
#define SHEAF_CPU_LOOKS_UP_CODES 0
#endif

#if SHEAF_CPU_LOOKS_UP_CODES
// The numbers that 16 codes stand for, each of which is half a byte. A row has no more than 16
// different ones, so they are decoded once and picked by a permutation, which takes the low four
// bits of each lane.
HWY_INLINE Vector looked_up(Vector decoded, const uint8_t* codes) {
  const __m512i shifts =
      _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  const __m512i low = _mm512_broadcastd_epi32(_mm_loadu_si32(codes));
  const __m512i both = _mm512_mask_broadcastd_epi32(low, 0xFF00, _mm_loadu_si32(codes + 4));
  return Vector{_mm512_permutexvar_ps(_mm512_srlv_epi32(both, shifts), decoded.raw)};
}
#elif HWY_TARGET != HWY_SCALAR
// The halves of bytes, the low one first. Each byte becomes two, itself and its high half, of which
// the low four bits stay.
template <class D>
HWY_INLINE hn::Vec<D> halves_of(D d, const uint8_t* codes) {
  const hn::Half<D> bytes;
  const hn::Rebind<uint16_t, decltype(bytes)> twice;
  const auto both = hn::PromoteTo(twice, hn::LoadU(bytes, codes));
  const auto spread = hn::Or(both, hn::ShiftLeft<4>(both));
  return hn::BitCast(d, hn::And(spread, hn::Set(twice, uint16_t{0x0F0F})));
}
#endif

// Two codes in a byte, the first in its low half. Vectors begin at even elements.
struct NibbleRow {
  static constexpr Encoding kEncoding = Encoding::kRowU4F16;
  static constexpr int kMostVectors = 8;
  static constexpr int64_t kBits = 4, kFirst = 0;
  static constexpr bool kScaled = true;
  HWY_INLINE NibbleRow(const std::byte* at, int64_t scale)
      : codes(reinterpret_cast<const uint8_t*>(at)), by(read_scale<kEncoding>(at + scale)) {
#if SHEAF_CPU_LOOKS_UP_CODES
    decoded = scaled_floats<kEncoding>(hn::Iota(Floats(), 0.0F), by);
#endif
  }
  template <bool kWhole>
  HWY_INLINE Vector vector([[maybe_unused]] Floats d, int64_t i) const {
#if HWY_TARGET == HWY_SCALAR
    const int code = codes[i / 2] >> (4 * (i % 2)) & 15;
    return scaled_floats<kEncoding>(hn::Set(d, static_cast<float>(code)), by);
#elif SHEAF_CPU_LOOKS_UP_CODES
    return looked_up(decoded, codes + i / 2);
#else
#if HWY_TARGET == HWY_NEON
    if constexpr (kWhole) {
      return scaled_ints<kEncoding>(four_of(halves_of(Sixteen(), codes + i / 16 * 8), i), by);
    }
#endif
    return scaled<kEncoding>(halves_of(Bytes(), codes + i / 2), by);
#endif
  }
  HWY_INLINE float one(int64_t e) const {
    const int code = codes[0] >> (4 * (e % 2)) & 15;
    const float product = static_cast<float>(code) * by.scale;
    return product + by.bias;
  }
  const uint8_t* codes;
  ScaleAndBias by;
#if SHEAF_CPU_LOOKS_UP_CODES
  Vector decoded;
#endif
};

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
