// SPDX-License-Identifier: MIT
//
// Rows of 4 and 8 bytes, by gather instructions where there are some: straight from index values,
// so that no offset is ever stored, or from 32-bit offsets that serve many times.
#if defined(SHEAF_CPU_GATHER_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_GATHER_DIRECT_INL
#undef SHEAF_CPU_GATHER_DIRECT_INL
#else
#define SHEAF_CPU_GATHER_DIRECT_INL
#endif

#include <hwy/cache_control.h>

#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/movers/copy-inl.h"
#include "backends/cpu/movers/gather-inl.h"
#include "backends/cpu/movers/routines.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

// Indices of one coordinate as clamp resolves them, half a vector of 4-byte rows or a whole one of
// 8-byte rows at a time; all offsets are within 2^31. What does not change is held in registers.
// Where data does not move (kNot), rows lie side by side in it.
template <class Index, class D64, bool kCheck, DataMoves kMoves>
class ClampedRun {
 public:
  HWY_INLINE ClampedRun(D64 d64, const Nest& nest, const IndexRun& run)
      : indices_(reinterpret_cast<const Index*>(run.indices) + nest.coordinates[0].offset),
        data_step_(run.data_step),
        places_(run.places),
        from_end_(hn::Set(d64, entry_rule(nest, nest.coordinates[0]).from_end)),
        last_(hn::Set(d64, entry_rule(nest, nest.coordinates[0]).last)),
        extent_(hn::Set(DIndex(), least_bad(nest.coordinates[0].extent))),
        stride_(hn::Set(D32(), static_cast<int32_t>(nest.coordinates[0].stride))),
        lane_steps_(hn::MulEven(hn::BitCast(D32(), hn::Iota(d64, 0)),
                                hn::Set(D32(), static_cast<int32_t>(run.data_step)))),
        narrow_steps_(
            hn::Mul(hn::Iota(D32(), 0), hn::Set(D32(), static_cast<int32_t>(run.data_step)))),
        bad_(hn::Zero(d64)) {}

  // To the run whose indices begin `elements` further on.
  HWY_INLINE void advance(int64_t elements) { indices_ += elements; }

  // True if no index was clamped (kCheck).
  HWY_INLINE bool good() const { return hn::AllTrue(D64(), hn::Eq(bad_, hn::Zero(D64()))); }

  // For a vector of rows from point i on: the indices Processor::sequence_ahead bytes later.
  template <class D>
  HWY_INLINE void prefetch(D, int64_t i) const {
    const auto* at = reinterpret_cast<const std::byte*>(indices_ + i);
    constexpr auto kBytes = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(Index));
    for (int64_t line = 0; line < kBytes; line += kLine) {
      prefetch_ahead<2>(at, kProcessor.sequence_ahead + line);
    }
  }

  // One vector of rows, those of the points from i on. Where all their indices name entries as they
  // are, nothing is to be resolved.
  template <class D>
  HWY_INLINE hn::Vec<D> rows(D d, const hn::TFromD<D>* data, int64_t i) {
    if constexpr (sizeof(hn::TFromD<D>) <= sizeof(Index)) {
      const hn::RebindToSigned<D> di;
      const auto low = load(i);
      if constexpr (sizeof(hn::TFromD<D>) == sizeof(Index)) {
        if (HWY_LIKELY(hn::AllTrue(DIndex(), hn::Lt(low, extent_)))) {
          return rows_of_entries(d, data, i, hn::BitCast(di, low));
        }
      } else {
        const auto high = load(i + static_cast<int64_t>(hn::Lanes(DIndex())));
        if (HWY_LIKELY(
                hn::AllTrue(DIndex(), hn::And(hn::Lt(low, extent_), hn::Lt(high, extent_))))) {
          return rows_of_entries(d, data, i,
                                 hn::ConcatEven(di, hn::BitCast(di, high), hn::BitCast(di, low)));
        }
      }
    }
    return gather_vector<1>(
        d, data, by_halves(d, i, [this](int64_t from) HWY_ATTR { return wide_offsets(from); }));
  }

  // Offsets of as many rows as points [i, end) have; the lanes left over get 0, which is always
  // inside data.
  template <class D>
  HWY_INLINE hn::Vec<hn::RebindToSigned<D>> offsets_until(D d, int64_t i, int64_t end) {
    return by_halves(d, i,
                     [this, end](int64_t from) HWY_ATTR { return wide_offsets_until(from, end); });
  }

 private:
  using D32 = hn::Repartition<int32_t, D64>;
  using NarrowD = hn::Rebind<int32_t, D64>;
  using UIndex = std::make_unsigned_t<Index>;
  template <class D>
  static constexpr int kRow = sizeof(hn::TFromD<D>);
  using DIndex = hn::Repartition<UIndex, D64>;

  template <class D, class V>
  HWY_INLINE hn::Vec<D> rows_of_entries(D d, const hn::TFromD<D>* data, int64_t i, V entry) const {
    if constexpr (kMoves == DataMoves::kNot) {
      return gather_vector<kRow<D>>(d, data, entry);
    } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return gather_vector<1>(d, data, offsets_of(i, entry));
    } else {
      return gather_vector<1>(d, data, hn::Add(hn::Mul(entry, stride_), moved_narrow(i)));
    }
  }

  // What data has moved by at the points from i on.
  HWY_INLINE hn::Vec<D32> moved_narrow(int64_t i) const {
    if constexpr (kMoves == DataMoves::kPlaces) {
      return hn::LoadU(D32(), places_ + i);
    } else {
      return hn::Add(narrow_steps_, hn::Set(D32(), static_cast<int32_t>(i * data_step_)));
    }
  }
  HWY_INLINE hn::Vec<D64> moved(int64_t i) const {
    if constexpr (kMoves == DataMoves::kPlaces) {
      return hn::PromoteTo(D64(), hn::LoadU(NarrowD(), places_ + i));
    } else {
      return hn::Add(lane_steps_, hn::Set(D64(), i * data_step_));
    }
  }

  // The least index that is not an entry, compared as unsigned: a negative one is at least 2^31 or
  // 2^63, so the bound is no larger than that, however large the extent is.
  static UIndex least_bad(int64_t extent) {
    constexpr auto kNegative = static_cast<uint64_t>(std::numeric_limits<Index>::max()) + 1;
    const auto wide = static_cast<uint64_t>(extent);
    return static_cast<UIndex>(wide < kNegative ? wide : kNegative);
  }

  HWY_INLINE hn::Vec<DIndex> load(int64_t i) const {
    return hn::LoadU(DIndex(), reinterpret_cast<const UIndex*>(indices_) + i);
  }

  // 64-bit offsets as they are, or the low halves of two vectors of them.
  template <class D, class Wide>
  static HWY_INLINE hn::Vec<hn::RebindToSigned<D>> by_halves(D, int64_t i, Wide wide) {
    const hn::RebindToSigned<D> di;
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return wide(i);
    } else {
      const auto low = hn::BitCast(di, wide(i));
      const auto high = hn::BitCast(di, wide(i + static_cast<int64_t>(hn::Lanes(di)) / 2));
      return hn::ConcatEven(di, high, low);
    }
  }

  HWY_INLINE hn::Vec<D64> wide_offsets(int64_t i) {
    if constexpr (sizeof(Index) == 8) {
      return resolve(i, hn::LoadU(D64(), indices_ + i));
    } else {
      return resolve(i, hn::PromoteTo(D64(), hn::LoadU(NarrowD(), indices_ + i)));
    }
  }

  HWY_INLINE hn::Vec<D64> wide_offsets_until(int64_t i, int64_t end) {
    const auto count = static_cast<size_t>(end > i ? end - i : 0);
    const auto valid = hn::FirstN(D64(), count);
    if constexpr (sizeof(Index) == 8) {
      return hn::IfThenElseZero(valid, resolve(i, hn::MaskedLoad(valid, D64(), indices_ + i)));
    } else {
      const auto narrow = hn::MaskedLoad(hn::FirstN(NarrowD(), count), NarrowD(), indices_ + i);
      return hn::IfThenElseZero(valid, resolve(i, hn::PromoteTo(D64(), narrow)));
    }
  }

  // Lanes that no index was loaded into hold 0, which is in range.
  HWY_INLINE hn::Vec<D64> resolve(int64_t i, hn::Vec<D64> index) {
    return offsets_of(i, clamped_entries<kCheck>(D64(), from_end_, last_, index, bad_));
  }

  HWY_INLINE hn::Vec<D64> offsets_of(int64_t i, hn::Vec<D64> entry) const {
    return hn::Add(hn::MulEven(hn::BitCast(D32(), entry), stride_), moved(i));
  }

  const Index* indices_;
  int64_t data_step_;
  const int32_t* places_;
  hn::Vec<D64> from_end_, last_;
  hn::Vec<DIndex> extent_;
  hn::Vec<D32> stride_;
  hn::Vec<D64> lane_steps_;
  hn::Vec<D32> narrow_steps_;
  hn::Vec<D64> bad_;
};

// Offsets that lie ready in 32 bits.
class ShortOffsets {
 public:
  explicit ShortOffsets(const int32_t* offsets) : offsets_(offsets) {}

  template <class D>
  HWY_INLINE void prefetch(D, int64_t) const {}  // they are in the first level

  template <class D>
  HWY_INLINE hn::Vec<D> rows(D d, const hn::TFromD<D>* data, int64_t i) const {
    const hn::RebindToSigned<D> di;
    return gather_vector<1>(d, data,
                            widened(di, hn::LoadU(hn::Rebind<int32_t, D>(), offsets_ + i)));
  }
  template <class D>
  HWY_INLINE hn::Vec<hn::RebindToSigned<D>> offsets_until(D, int64_t i, int64_t end) const {
    const hn::RebindToSigned<D> di;
    const hn::Rebind<int32_t, D> d32;
    const auto valid = hn::FirstN(d32, static_cast<size_t>(end - i));
    return widened(di, hn::MaskedLoad(valid, d32, offsets_ + i));
  }

 private:
  template <class DI, class V>
  static HWY_INLINE hn::Vec<DI> widened(DI di, V offsets) {
    if constexpr (sizeof(hn::TFromD<DI>) == 8) {
      return hn::PromoteTo(di, offsets);
    } else {
      return offsets;
    }
  }

  const int32_t* offsets_;
};

template <class T, class Source>
HWY_INLINE void gather_rows(const RowMove& rows, Source& source) {
  const hn::ScalableTag<T> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT data = reinterpret_cast<const T*>(rows.data);
  T* HWY_RESTRICT output = reinterpret_cast<T*>(rows.output);
  const bool stream = rows.stream;
  const bool go_on = rows.indices_go_on;
  in_runs(rows, [=, &source](int64_t i, int64_t end) HWY_ATTR {
    if (stream && reinterpret_cast<uintptr_t>(output + i) % kLine == 0) {
      for (; i + n <= end; i += n) {
        if (go_on) {
          source.prefetch(d, i);
        }
        hn::Stream(source.rows(d, data, i), d, output + i);
      }
    }
    for (; i + n <= end; i += n) {
      if (go_on) {
        source.prefetch(d, i);
      }
      hn::StoreU(source.rows(d, data, i), d, output + i);
    }
    if (i < end) {
      hn::BlendedStore(gather_vector<1>(d, data, source.offsets_until(d, i, end)),
                       hn::FirstN(d, static_cast<size_t>(end - i)), d, output + i);
    }
  });
}

template <class Index, bool kCheck, DataMoves kMoves>
bool gather_clamped(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  using D64 = hn::ScalableTag<int64_t>;
  ClampedRun<Index, D64, kCheck, kMoves> source(D64(), nest, run);
  RowMove step = rows;
  for (int64_t s = 0; s < run.steps.count; ++s) {
    if (rows.row_bytes == 4) {
      gather_rows<uint32_t>(step, source);
    } else {
      gather_rows<uint64_t>(step, source);
    }
    advance(step, run.steps, sizeof(Index));
    source.advance(run.steps.index);
  }
  return source.good();
}

template <class Index, bool kCheck>
bool gather_indices(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if (run.places != nullptr) {
    return gather_clamped<Index, kCheck, DataMoves::kPlaces>(nest, run, rows);
  }
  return nest.coordinates[0].stride == rows.row_bytes && run.data_step == 0
             ? gather_clamped<Index, kCheck, DataMoves::kNot>(nest, run, rows)
             : gather_clamped<Index, kCheck, DataMoves::kSteps>(nest, run, rows);
}

template <class Index>
bool gather_indexed(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return run.check ? gather_indices<Index, true>(nest, run, rows)
                   : gather_indices<Index, false>(nest, run, rows);
}

bool gather_direct(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return nest.index_type == i32 ? gather_indexed<int32_t>(nest, run, rows)
                                : gather_indexed<int64_t>(nest, run, rows);
}

void move_short(const RowMove& rows, const int32_t* offsets) {
  const ShortOffsets source(offsets);
  if (rows.row_bytes == 4) {
    gather_rows<uint32_t>(rows, source);
  } else {
    gather_rows<uint64_t>(rows, source);
  }
}

#elif HWY_ARCH_ARM_A64

// By loads, and the next data prefetched in the same loop: arm64 processors write around their
// caches until other memory is written, as a call per run of rows would do on the stack. Data
// may overlap the output as far as the compiler knows, so that it stores rows in order.
template <class T>
HWY_NOINLINE void load_rows(const std::byte* data, const int32_t* offsets, std::byte* output,
                            int64_t count, Ahead next) {
  constexpr int64_t kRun = kPrefetch.share_loads;
  constexpr int64_t kBytes = sizeof(T);
  const int64_t share = (next.bytes / (count / kRun + 1) + kLine) & -kLine;
  int64_t fetched = 0;
  int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    const int64_t until = next.bytes - fetched > share ? fetched + share : next.bytes;
    for (; fetched < until; fetched += kLine) {
      prefetch_ahead<1>(next.begin, fetched);
    }
    HWY_UNROLL(16)
    for (int64_t k = 0; k < kRun; ++k) {
      std::memcpy(output + (i + k) * kBytes, data + offsets[i + k], sizeof(T));
    }
  }
  for (; i < count; ++i) {
    std::memcpy(output + i * kBytes, data + offsets[i], sizeof(T));
  }
}

void move_short(const RowMove& rows, const int32_t* offsets) {
  if (rows.row_bytes == 4) {
    load_rows<uint32_t>(rows.data, offsets, rows.output, rows.count, rows.next_data);
  } else {
    load_rows<uint64_t>(rows.data, offsets, rows.output, rows.count, rows.next_data);
  }
}

inline constexpr MoveDirect gather_direct = nullptr;

#else

inline constexpr MoveDirect gather_direct = nullptr;
inline constexpr MoveShort move_short = nullptr;

#endif

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
