// SPDX-License-Identifier: MIT
//
// Rows of 4 and 8 bytes straight from index values by gather instructions: a vector of indices
// becomes a vector of offsets becomes a vector of rows, and no offset is ever stored.
#if defined(SHEAF_CPU_GATHER_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_GATHER_DIRECT_INL
#undef SHEAF_CPU_GATHER_DIRECT_INL
#else
#define SHEAF_CPU_GATHER_DIRECT_INL
#endif

#include <hwy/cache_control.h>

#include <type_traits>

#include "backends/cpu/move-inl.h"
#include "backends/cpu/routines.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

// Indices of one coordinate as clamp resolves them, half a vector of 4-byte rows or a whole one of
// 8-byte rows at a time; all offsets are within 2^31. What does not change is held in registers.
template <class Index, class D64>
class ClampedRun {
 public:
  HWY_INLINE ClampedRun(D64 d64, const Nest& nest, const IndexRun& run)
      : indices_(reinterpret_cast<const Index*>(run.indices) + nest.coordinates[0].offset),
        data_step_(run.data_step),
        from_end_(hn::Set(d64, nest.negative == Negative::kFromEnd ? extent(nest) : 0)),
        last_(hn::Set(d64, extent(nest) - 1)),
        stride_(hn::Set(D32(), static_cast<int32_t>(nest.coordinates[0].stride))),
        lane_steps_(hn::MulEven(hn::BitCast(D32(), hn::Iota(d64, 0)),
                                hn::Set(D32(), static_cast<int32_t>(run.data_step)))) {}

  // Offsets of the points from i on.
  HWY_INLINE hn::Vec<D64> offsets(int64_t i) const {
    if constexpr (sizeof(Index) == 8) {
      return resolve(i, hn::LoadU(D64(), indices_ + i));
    } else {
      return resolve(i, hn::PromoteTo(D64(), hn::LoadU(NarrowD(), indices_ + i)));
    }
  }

  // The same as far as points [i, end) go; the lanes left over get 0, which is always inside data.
  HWY_INLINE hn::Vec<D64> offsets_until(int64_t i, int64_t end) const {
    const auto count = static_cast<size_t>(end > i ? end - i : 0);
    const auto valid = hn::FirstN(D64(), count);
    if constexpr (sizeof(Index) == 8) {
      return hn::IfThenElseZero(valid, resolve(i, hn::MaskedLoad(valid, D64(), indices_ + i)));
    } else {
      const auto narrow = hn::MaskedLoad(hn::FirstN(NarrowD(), count), NarrowD(), indices_ + i);
      return hn::IfThenElseZero(valid, resolve(i, hn::PromoteTo(D64(), narrow)));
    }
  }

 private:
  using D32 = hn::Repartition<int32_t, D64>;
  using NarrowD = hn::Rebind<int32_t, D64>;
  static int64_t extent(const Nest& nest) { return nest.coordinates[0].extent; }

  HWY_INLINE hn::Vec<D64> resolve(int64_t i, hn::Vec<D64> at) const {
    at = hn::Add(at, hn::And(hn::BroadcastSignBit(at), from_end_));
    at = hn::Min(hn::Max(at, hn::Zero(D64())), last_);
    const auto moved = hn::Add(lane_steps_, hn::Set(D64(), i * data_step_));
    return hn::Add(hn::MulEven(hn::BitCast(D32(), at), stride_), moved);
  }

  const Index* indices_;
  int64_t data_step_;
  hn::Vec<D64> from_end_, last_;
  hn::Vec<D32> stride_;
  hn::Vec<D64> lane_steps_;
};

// The rows at the offsets that offsets_from(point) gives, from point i on.
template <class D, class OffsetsFrom>
HWY_INLINE hn::Vec<D> gather_vector(D d, const hn::TFromD<D>* data, int64_t i,
                                    OffsetsFrom offsets_from) {
  const auto low = offsets_from(i);
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::GatherOffset(d, data, low);
  } else {
    const hn::RebindToSigned<D> di;
    const auto high = offsets_from(i + static_cast<int64_t>(hn::Lanes(d)) / 2);
    return hn::GatherOffset(d, data,
                            hn::ConcatEven(di, hn::BitCast(di, high), hn::BitCast(di, low)));
  }
}

template <class T, class Index>
void gather_clamped(const Nest& nest, const IndexRun& index_run, const RowMove& rows) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<int64_t, decltype(d)> d64;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const ClampedRun<Index, decltype(d64)> run(d64, nest, index_run);
  const T* HWY_RESTRICT data = reinterpret_cast<const T*>(rows.data);
  T* HWY_RESTRICT output = reinterpret_cast<T*>(rows.output);
  const bool stream = rows.stream;
  in_runs(rows, [=](int64_t i, int64_t end) HWY_ATTR {
    const auto whole = [=](int64_t from) HWY_ATTR { return run.offsets(from); };
    if (stream && reinterpret_cast<uintptr_t>(output + i) % kLine == 0) {
      for (; i + n <= end; i += n) {
        hn::Stream(gather_vector(d, data, i, whole), d, output + i);
      }
    }
    for (; i + n <= end; i += n) {
      hn::StoreU(gather_vector(d, data, i, whole), d, output + i);
    }
    if (i < end) {
      const auto rest = [=](int64_t from) HWY_ATTR { return run.offsets_until(from, end); };
      hn::BlendedStore(gather_vector(d, data, i, rest), hn::FirstN(d, static_cast<size_t>(end - i)),
                       d, output + i);
    }
  });
}

template <class Index>
void gather_indices(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if (rows.row_bytes == 4) {
    gather_clamped<uint32_t, Index>(nest, run, rows);
  } else {
    gather_clamped<uint64_t, Index>(nest, run, rows);
  }
}

void gather_direct(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if (nest.index_type == i32) {
    gather_indices<int32_t>(nest, run, rows);
  } else {
    gather_indices<int64_t>(nest, run, rows);
  }
}

#else

inline constexpr void (*gather_direct)(const Nest&, const IndexRun&, const RowMove&) = nullptr;

#endif

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
