// SPDX-License-Identifier: MIT
//
// The gather instructions of x86 (AVX2 and later). Slow on many processors: used only where a probe
// (probe.h) has seen them win.
#if defined(SHEAF_CPU_GATHER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_GATHER_INL
#undef SHEAF_CPU_GATHER_INL
#else
#define SHEAF_CPU_GATHER_INL
#endif

#include <hwy/cache_control.h>

#include <type_traits>

#include "backends/cpu/movers/copy-inl.h"
#include "backends/cpu/movers/routines.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

// One vector of T, each from kScale * at bytes past `data`.
template <int kScale, class D, class VI, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> gather_vector(D d, const T* data, VI at) {
#if HWY_TARGET <= HWY_AVX3
  // Into zeros, by a mask that the compiler does not see through: g++ 12 would leave the result of
  // an earlier gather in place, which this one then waits for.
  const auto zero = _mm512_setzero_si512();
  auto all = static_cast<__mmask16>(sizeof(T) == 4 ? 0xFFFF : 0xFF);
  asm("" : "+k"(all));
  if constexpr (sizeof(T) == 4) {
    return hn::Vec<D>{_mm512_mask_i32gather_epi32(zero, all, at.raw, data, kScale)};
  } else {
    return hn::Vec<D>{
        _mm512_mask_i64gather_epi64(zero, static_cast<__mmask8>(all), at.raw, data, kScale)};
  }
#else
  if constexpr (kScale == 1) {
    return hn::GatherOffset(d, data, at);
  } else {
    static_assert(kScale == sizeof(T));
    return hn::GatherIndex(d, data, at);
  }
#endif
}

// The offsets of one vector of rows: 64-bit as they are, or the low halves of two vectors.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> load_offsets(D /*d*/, const int64_t* offsets) {
  const hn::RebindToSigned<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::LoadU(di, offsets);
  } else {
    const hn::Repartition<int64_t, D> d64;
    const auto low = hn::BitCast(di, hn::LoadU(d64, offsets));
    const auto high = hn::BitCast(di, hn::LoadU(d64, offsets + hn::Lanes(d64)));
    return hn::ConcatEven(di, high, low);
  }
}

// Moves rows [begin, end) as far as whole vectors go; returns how many it moved.
template <int64_t kRowBytes>
HWY_INLINE int64_t gather_by_instruction(const RowMove& rows, int64_t begin, int64_t end) {
  using T = std::conditional_t<kRowBytes == 4, uint32_t, uint64_t>;
  const hn::ScalableTag<T> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT data = reinterpret_cast<const T*>(rows.data);
  T* HWY_RESTRICT output = reinterpret_cast<T*>(rows.output);
  int64_t i = begin;
  // Streaming needs an aligned address: where rows can meet lines at all, runs after the first do.
  if (rows.stream && reinterpret_cast<uintptr_t>(output + i) % 64 == 0) {
    for (; i + n <= end; i += n) {
      hn::Stream(gather_vector<1>(d, data, load_offsets(d, rows.offsets + i)), d, output + i);
    }
  } else {
    for (; i + n <= end; i += n) {
      hn::StoreU(gather_vector<1>(d, data, load_offsets(d, rows.offsets + i)), d, output + i);
    }
  }
  return i - begin;
}

template <int64_t kRowBytes>
HWY_INLINE void gather_rows_of(const RowMove& rows) {
  in_runs(rows, [&](int64_t begin, int64_t end) HWY_ATTR {
    begin += gather_by_instruction<kRowBytes>(rows, begin, end);
    for (; begin < end; ++begin) {
      copy_bytes<kRowBytes>(rows.output + begin * kRowBytes, rows.data + rows.offsets[begin]);
    }
  });
}

// Rows of 4 or 8 bytes side by side, all offsets within 2^31.
void move_gathered(const RowMove& rows) {
  rows.row_bytes == 4 ? gather_rows_of<4>(rows) : gather_rows_of<8>(rows);
}

#else

inline constexpr MoveRows move_gathered = nullptr;

#endif

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
