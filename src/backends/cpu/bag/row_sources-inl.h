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
// one(i) the first of them. kWhole: the 16 elements that i is among, from a multiple of 16 on, are
// all wanted: NEON loads narrow ones once for several vectors. What it needs of the row as a whole
// is read before. kMostVectors: how many are joined at a time without registers going to memory
// (frames of SVE registers are more than valgrind 3.19 can read). kBits: of an element. kFirst: the
// byte of the row that has the first. kScaleBehind: a scale follows the last.
struct FloatRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 32, kFirst = 0;
  static constexpr bool kScaleBehind = false;
  HWY_INLINE FloatRow(const std::byte* row, int64_t /*elements*/, int64_t e)
      : first(reinterpret_cast<const float*>(row) + e) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats d, int64_t i) const {
    return hn::LoadU(d, first + i);
  }
  HWY_INLINE float one(int64_t i) const {
    float value;
    __builtin_memcpy(&value, first + i, sizeof value);
    return value;
  }
  const float* first;
};

struct HalfRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 16, kFirst = 0;
  static constexpr bool kScaleBehind = false;
  HWY_INLINE HalfRow(const std::byte* row, int64_t /*elements*/, int64_t e)
      : first(reinterpret_cast<const uint16_t*>(row) + e) {}
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
  HWY_INLINE float one(int64_t i) const {
    uint16_t bits;
    __builtin_memcpy(&bits, first + i, sizeof bits);
    return Float16::widen(bits);
  }
  const uint16_t* first;
};

struct BrainRow {
  static constexpr int kMostVectors = kMostSums;
  static constexpr int64_t kBits = 16, kFirst = 0;
  static constexpr bool kScaleBehind = false;
  HWY_INLINE BrainRow(const std::byte* row, int64_t /*elements*/, int64_t e)
      : first(reinterpret_cast<const uint16_t*>(row) + e) {}
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
  HWY_INLINE float one(int64_t i) const {
    uint16_t bits;
    __builtin_memcpy(&bits, first + i, sizeof bits);
    return BFloat16::widen(bits);
  }
  const uint16_t* first;
};

// What all codes of a row are multiplied by, and what is added then.
struct ScaleAndBias {
  float scale, bias;
};

template <Encoding kEncoding>
HWY_INLINE ScaleAndBias read_scale(const std::byte* row, int64_t elements) {
  if constexpr (kEncoding == Encoding::kRowU8F32) {
    const RowScale read = row_scale<kEncoding>(row, elements);
    return {read.scale, read.bias};
  } else {
    const std::byte* const at =
        kEncoding == Encoding::kRowU8F16Front ? row : row + (elements + 1) / 2;
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

HWY_INLINE Vector scaled_ints(hn::Vec<Ints> codes, ScaleAndBias by) {
  const Floats d;
  return hn::Add(hn::Mul(hn::ConvertTo(d, codes), hn::Set(d, by.scale)), hn::Set(d, by.bias));
}

HWY_INLINE Vector scaled(hn::Vec<Bytes> codes, ScaleAndBias by) {
  return scaled_ints(hn::PromoteTo(Ints(), codes), by);
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
  static constexpr bool kScaleBehind = kFirst == 0;
  HWY_INLINE ByteRow(const std::byte* row, int64_t elements, int64_t e)
      : codes(reinterpret_cast<const uint8_t*>(row) + kFirst + e),
        by(read_scale<kEncoding>(row, elements)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector(Floats /*d*/, int64_t i) const {
#if HWY_TARGET == HWY_NEON
    if constexpr (kWhole) {
      return scaled_ints(four_of(hn::LoadU(Sixteen(), codes + i / 16 * 16), i), by);
    }
#endif
    return scaled(hn::LoadU(Bytes(), codes + i), by);
  }
  HWY_INLINE float one(int64_t i) const {
    const float product = static_cast<float>(codes[i]) * by.scale;
    return product + by.bias;
  }
  const uint8_t* codes;
  ScaleAndBias by;
};

#if HWY_TARGET != HWY_SCALAR
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
  static constexpr int kMostVectors = 8;
  static constexpr int64_t kBits = 4, kFirst = 0;
  static constexpr bool kScaleBehind = true;
  HWY_INLINE NibbleRow(const std::byte* row, int64_t elements, int64_t e)
      : codes(reinterpret_cast<const uint8_t*>(row) + e / 2),
        odd(e % 2),
        by(read_scale<Encoding::kRowU4F16>(row, elements)) {}
  template <bool kWhole>
  HWY_INLINE Vector vector([[maybe_unused]] Floats d, int64_t i) const {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, one(i));
#else
#if HWY_TARGET == HWY_NEON
    if constexpr (kWhole) {
      return scaled_ints(four_of(halves_of(Sixteen(), codes + i / 16 * 8), i), by);
    }
#endif
    return scaled(halves_of(Bytes(), codes + i / 2), by);
#endif
  }
  HWY_INLINE float one(int64_t i) const {
    const int code = codes[(odd + i) / 2] >> (4 * ((odd + i) % 2)) & 15;
    const float product = static_cast<float>(code) * by.scale;
    return product + by.bias;
  }
  const uint8_t* codes;
  int64_t odd;
  ScaleAndBias by;
};

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
