// SPDX-License-Identifier: MIT
//
// The loops of a bag. Elements are joined in registers, a few vectors of columns at a time, while
// the rows of the bag pass by; sums therefore have the order of the rows, whatever the vectors'
// length.
#if defined(SHEAF_CPU_POOL_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_POOL_ROWS_INL
#undef SHEAF_CPU_POOL_ROWS_INL
#else
#define SHEAF_CPU_POOL_ROWS_INL
#endif

#include <limits>

#include "backends/cpu/bag/pool_rows.h"
#include "backends/cpu/scatter/small_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Words = hn::Rebind<uint32_t, Floats>;
using Ints = hn::Rebind<int32_t, Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;

// A source reads elements of one row as floats: a vector of them from element `e` on, or one. What
// it needs of the row as a whole is read first. kMostVectors: how many are joined at a time without
// registers going to memory (frames of SVE registers are more than valgrind 3.19 can read).
struct FloatRow {
  static constexpr int kMostVectors = 8;
  explicit HWY_INLINE FloatRow(const std::byte* memory, int64_t /*elements*/)
      : row(reinterpret_cast<const float*>(memory)) {}
  HWY_INLINE Vector vector(Floats d, int64_t e) const { return hn::LoadU(d, row + e); }
  HWY_INLINE float one(int64_t e) const {
    float value;
    __builtin_memcpy(&value, row + e, sizeof value);
    return value;
  }
  const float* row;
};

struct HalfRow {
  static constexpr int kMostVectors = 8;
  explicit HWY_INLINE HalfRow(const std::byte* memory, int64_t /*elements*/)
      : row(reinterpret_cast<const uint16_t*>(memory)) {}
  HWY_INLINE Vector vector(Floats d, int64_t e) const {
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
    // One instruction. Of a NaN it may change the payload, which is lost in the end anyway.
    const hn::Rebind<hwy::float16_t, Floats> halves;
    return hn::PromoteTo(d, hn::BitCast(halves, hn::LoadU(Halves(), row + e)));
#else
    // As Float16::widen.
    const Words words;
    const auto bits = hn::PromoteTo(words, hn::LoadU(Halves(), row + e));
    const auto magnitude = hn::And(bits, hn::Set(words, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto finite = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112F));
    const Ints ints;  // all instruction sets compare these
    const auto special = hn::IfThenElseZero(
        hn::Gt(hn::BitCast(ints, magnitude), hn::Set(ints, 0x7BFF)), hn::Set(ints, 0x7F800000));
    return hn::Or(hn::Or(finite, hn::BitCast(d, special)), hn::BitCast(d, sign));
#endif
  }
  HWY_INLINE float one(int64_t e) const {
    uint16_t bits;
    __builtin_memcpy(&bits, row + e, sizeof bits);
    return Float16::widen(bits);
  }
  const uint16_t* row;
};

struct BrainRow {
  static constexpr int kMostVectors = 8;
  explicit HWY_INLINE BrainRow(const std::byte* memory, int64_t /*elements*/)
      : row(reinterpret_cast<const uint16_t*>(memory)) {}
  HWY_INLINE Vector vector(Floats d, int64_t e) const {
    const auto bits = hn::PromoteTo(Words(), hn::LoadU(Halves(), row + e));
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  }
  HWY_INLINE float one(int64_t e) const {
    uint16_t bits;
    __builtin_memcpy(&bits, row + e, sizeof bits);
    return BFloat16::widen(bits);
  }
  const uint16_t* row;
};

// Codes of a byte with scale and bias in the row.
template <Encoding kEncoding>
struct ByteRow {
  static constexpr int kMostVectors = 8;
  explicit HWY_INLINE ByteRow(const std::byte* row, int64_t elements) {
    const RowScale read = row_scale<kEncoding>(row, elements);
    codes = reinterpret_cast<const uint8_t*>(row + read.codes);
    scale = read.scale;
    bias = read.bias;
  }
  HWY_INLINE Vector vector(Floats d, int64_t e) const {
    const Ints ints;
    const auto code = hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(Bytes(), codes + e)));
    return hn::Add(hn::Mul(code, hn::Set(d, scale)), hn::Set(d, bias));
  }
  HWY_INLINE float one(int64_t e) const {
    const float product = static_cast<float>(codes[e]) * scale;
    return product + bias;
  }
  const uint8_t* codes;
  float scale, bias;
};

// Two codes in a byte, the first in its low half.
struct NibbleRow {
  static constexpr int kMostVectors = 4;  // unpacking takes registers
  explicit HWY_INLINE NibbleRow(const std::byte* row, int64_t elements) {
    const RowScale read = row_scale<Encoding::kRowU4F16>(row, elements);
    codes = reinterpret_cast<const uint8_t*>(row);
    scale = read.scale;
    bias = read.bias;
  }
  // e is even: it is a multiple of the vector's length.
  HWY_INLINE Vector vector(Floats d, int64_t e) const {
    const Ints ints;
    if (hn::Lanes(d) < 2) {
      return hn::Set(d, one(e));
    }
    const hn::Half<Bytes> pairs;
    const auto both = hn::LoadU(pairs, codes + e / 2);
    const auto low = hn::And(both, hn::Set(pairs, 15));
    const auto high = hn::ShiftRight<4>(both);
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
    HWY_ALIGN uint8_t memory[hn::MaxLanes(Bytes()) < 8 ? 8 : hn::MaxLanes(Bytes())];
    hn::StoreInterleaved2(low, high, pairs, memory);
    const auto spread = hn::Load(Bytes(), memory);
#else
    // At most 16 bytes: blocks of 128 bits, within which this interleaves, make no difference.
    const Bytes bytes;
    const auto spread = hn::InterleaveLower(bytes, hn::ZeroExtendVector(bytes, low),
                                            hn::ZeroExtendVector(bytes, high));
#endif
    const auto code = hn::ConvertTo(d, hn::PromoteTo(ints, spread));
    return hn::Add(hn::Mul(code, hn::Set(d, scale)), hn::Set(d, bias));
  }
  HWY_INLINE float one(int64_t e) const {
    const int code = codes[e / 2] >> (4 * (e % 2)) & 15;
    const float product = static_cast<float>(code) * scale;
    return product + bias;
  }
  const uint8_t* codes;
  float scale, bias;
};

// A NaN stays one; finish_floats() makes it the one.
template <Reduction kReduction>
HWY_INLINE Vector joined_vector(Vector before, Vector row) {
  if constexpr (kReduction == Reduction::kAdd) {
    return hn::Add(before, row);
  } else if constexpr (kReduction == Reduction::kMul) {
    return hn::Mul(before, row);
  } else {
    const auto better = kReduction == Reduction::kMax ? hn::Gt(row, before) : hn::Lt(row, before);
    return hn::IfThenElse(hn::Or(better, hn::IsNaN(row)), row, before);
  }
}

template <Reduction kReduction>
constexpr float start_of() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return kReduction == Reduction::kMul   ? 1.0F
         : kReduction == Reduction::kMax ? -kInfinity
         : kReduction == Reduction::kMin ? kInfinity
                                         : 0.0F;
}

HWY_INLINE void prefetch_ahead(const PoolRows& rows, int64_t r) {
  constexpr int64_t kRowsAhead = 16;  // some 2 KiB of short rows: what a memory's latency covers
  constexpr int64_t kLineBytes = 64;
  if (r + kRowsAhead < rows.count + rows.ahead) {
    const std::byte* const row = rows.table + rows.rows[r + kRowsAhead];
    for (int64_t at = 0; at < rows.row_bytes; at += kLineBytes) {
      __builtin_prefetch(row + at);
    }
    __builtin_prefetch(row + rows.row_bytes - 1);
  }
}

// kVectors vectors of columns from element `e` on, through all rows. Vectors of some instruction
// sets have no size, so they are no array.
template <class Source, Reduction kReduction, bool kWeighted, int kVectors>
HWY_INLINE void join_columns(const PoolRows& rows, int64_t e, bool prefetches) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = hn::Set(d, start_of<kReduction>());
  float* const joined = rows.joined + e;
  const auto first = [&](int v) HWY_ATTR {
    return rows.starts || v >= kVectors ? start : hn::LoadU(d, joined + v * lanes);
  };
  auto j0 = first(0), j1 = first(1), j2 = first(2), j3 = first(3);
  auto j4 = first(4), j5 = first(5), j6 = first(6), j7 = first(7);
  for (int64_t r = 0; r < rows.count; ++r) {
    if (prefetches) {
      prefetch_ahead(rows, r);
    }
    const Source source(rows.table + rows.rows[r], rows.elements);
    const auto weight = hn::Set(d, kWeighted ? rows.weights[r] : 1.0F);
    const auto step = [&](Vector before, int v) HWY_ATTR {
      Vector row = source.vector(d, e + v * lanes);
      if constexpr (kWeighted) {
        row = hn::Mul(row, weight);
      }
      return joined_vector<kReduction>(before, row);
    };
    j0 = step(j0, 0);
    if constexpr (kVectors > 1) {
      j1 = step(j1, 1);
    }
    if constexpr (kVectors > 2) {
      j2 = step(j2, 2);
      j3 = step(j3, 3);
    }
    if constexpr (kVectors > 4) {
      j4 = step(j4, 4);
      j5 = step(j5, 5);
      j6 = step(j6, 6);
      j7 = step(j7, 7);
    }
  }
  hn::StoreU(j0, d, joined);
  if constexpr (kVectors > 1) {
    hn::StoreU(j1, d, joined + lanes);
  }
  if constexpr (kVectors > 2) {
    hn::StoreU(j2, d, joined + 2 * lanes);
    hn::StoreU(j3, d, joined + 3 * lanes);
  }
  if constexpr (kVectors > 4) {
    hn::StoreU(j4, d, joined + 4 * lanes);
    hn::StoreU(j5, d, joined + 5 * lanes);
    hn::StoreU(j6, d, joined + 6 * lanes);
    hn::StoreU(j7, d, joined + 7 * lanes);
  }
}

template <class Source, Reduction kReduction, bool kWeighted>
void join_rows(const PoolRows& rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t e = rows.begin;
  bool prefetches = true;  // with the first columns
  if constexpr (Source::kMostVectors == 8) {
    for (; e + 8 * lanes <= rows.end; e += 8 * lanes, prefetches = false) {
      join_columns<Source, kReduction, kWeighted, 8>(rows, e, prefetches);
    }
  }
  for (; e + 4 * lanes <= rows.end; e += 4 * lanes, prefetches = false) {
    join_columns<Source, kReduction, kWeighted, 4>(rows, e, prefetches);
  }
  if (e + 2 * lanes <= rows.end) {
    join_columns<Source, kReduction, kWeighted, 2>(rows, e, prefetches);
    e += 2 * lanes;
    prefetches = false;
  }
  if (e + lanes <= rows.end) {
    join_columns<Source, kReduction, kWeighted, 1>(rows, e, prefetches);
    e += lanes;
    prefetches = false;
  }
  for (; e < rows.end; ++e, prefetches = false) {
    float joined = rows.starts ? start_of<kReduction>() : rows.joined[e];
    for (int64_t r = 0; r < rows.count; ++r) {
      if (prefetches) {
        prefetch_ahead(rows, r);
      }
      float row = Source(rows.table + rows.rows[r], rows.elements).one(e);
      if constexpr (kWeighted) {
        row = row * rows.weights[r];
      }
      joined = reduced_float<kReduction>(joined, row);
    }
    rows.joined[e] = joined;
  }
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
