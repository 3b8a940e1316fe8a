// SPDX-License-Identifier: MIT
//
// Narrow rows straight from index values. No offset is stored, so the processor sees many rows at
// once, and the next indices are resolved while rows are still in flight.
#if defined(SHEAF_CPU_COPY_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_COPY_DIRECT_INL
#undef SHEAF_CPU_COPY_DIRECT_INL
#else
#define SHEAF_CPU_COPY_DIRECT_INL
#endif

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/movers/copy-inl.h"
#include "backends/cpu/movers/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// Rows are stored one after the other: arm64 processors write around their caches as long as lines
// are written in order, and g++ 12 would mix the stores of several rows.
HWY_INLINE void keep_rows_in_order() {
#if HWY_ARCH_ARM_A64
  asm volatile("" : : : "memory");
#endif
}

// Where an index leads, and what is moved from there. Rows of kPart bytes; if kTwice, of more than
// kPart and up to 2 * kPart bytes. Where data does not move (kNot), entries are kPart bytes apart.
template <int64_t kPart, bool kTwice, DataMoves kMoves>
struct DirectRow {
  const std::byte* HWY_RESTRICT data;
  std::byte* HWY_RESTRICT output;
  int64_t stride, data_step, row_bytes;
  const int32_t* HWY_RESTRICT places;

  // Whether rows far away are prefetched. Measured on a Neoverse V1, which is out of order: rows of
  // 12 bytes, of which one in eight lies on two lines, take 0.8 of the time, rows of 32 bytes 0.9;
  // rows of 4, 8 and 16 bytes, of which it keeps enough in flight unasked, 1.0.
  static constexpr bool kPrefetched =
      (kTwice && kPart >= 8) || kPart >= kLine / 2 || kLine % kPart != 0;

  HWY_INLINE const std::byte* from(int64_t i, int64_t entry) const {
    return kMoves == DataMoves::kNot ? data + entry * kPart : data + entry * stride + moved(i);
  }
  HWY_INLINE int64_t moved(int64_t i) const {
    return kMoves == DataMoves::kPlaces ? places[i] : i * data_step;
  }
  // An index as it stands may lead anywhere. So may a prefetch, but a pointer may not: the address
  // is a number.
  HWY_INLINE void prefetch(int64_t i, uint64_t index) const {
    const uint64_t offset = kMoves == DataMoves::kNot
                                ? index * uint64_t{kPart}
                                : index * uint64_t(stride) + uint64_t(moved(i));
    prefetch_ahead<1>(data, static_cast<int64_t>(offset));
  }
  // For kGroup rows from row i on.
  HWY_INLINE void prefetch_output(int64_t i) const {
    for (int64_t line = 0; line < kGroup * kPart * (kTwice ? 2 : 1); line += kLine) {
      prefetch_to_write(to(i), kProcessor.output_ahead + line);
    }
  }
  HWY_INLINE std::byte* to(int64_t i) const { return output + i * (kTwice ? row_bytes : kPart); }
  HWY_INLINE void copy(int64_t i, int64_t entry) const {
    const std::byte* row = from(i, entry);
    copy_bytes<kPart>(to(i), row);
    if constexpr (kTwice) {
      copy_bytes<kPart>(to(i) + row_bytes - kPart, row + row_bytes - kPart);
    } else if constexpr (kPart > 8) {
      keep_rows_in_order();
    }
  }
};

// What is prefetched while rows are copied.
struct DirectAhead {
  int64_t rows;  // how far ahead
  int64_t last;  // where the last group begins that has a whole one so far ahead; -1: nowhere
  bool indices;  // those Processor::sequence_ahead bytes later
  bool output;   // lines Processor::output_ahead bytes later
};

// Rows [i, end). Not 0 if an index was clamped. Arguments by value: a store of bytes might change
// what a reference refers to.
template <class Index, class Row>
HWY_INLINE int64_t copy_run(const Row row, const EntryRule rule,
                            const std::byte* HWY_RESTRICT indices, const DirectAhead ahead,
                            int64_t i, const int64_t end) {
  int64_t bad = 0;
  int64_t entries[kGroup];
  for (; i + kGroup <= end; i += kGroup) {
    load_entries<Index>(rule, indices, i, entries, bad);
    if (kProcessor.prefetches_near_indices && ahead.indices) {
      prefetch_ahead<2>(indices + i * int64_t{sizeof(Index)}, kProcessor.sequence_ahead);
    }
    if (kProcessor.output_ahead > 0 && ahead.output) {
      row.prefetch_output(i);
    }
    if (Row::kPrefetched && i <= ahead.last) {
      HWY_UNROLL(8)
      for (int64_t k = 0; k < kGroup; ++k) {
        // Unresolved: few indices count from the end.
        const int64_t later = i + ahead.rows + k;
        row.prefetch(later, uint64_t(widen(load_index<Index>(indices, later))));
      }
    }
    HWY_UNROLL(8)
    for (int64_t k = 0; k < kGroup; ++k) {
      row.copy(i + k, entries[k]);
    }
  }
  for (; i < end; ++i) {
    row.copy(i, clamped_entry<true>(rule, load_index<Index>(indices, i), bad));
  }
  return bad;
}

// True if no index was clamped.
template <class Index, int64_t kPart, bool kTwice, DataMoves kMoves>
bool copy_rows_of(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  const Coordinate& c = nest.coordinates[0];
  const EntryRule rule = entry_rule(nest, c);
  const DirectRow<kPart, kTwice, kMoves> row{rows.data,     rows.output,    c.stride,
                                             run.data_step, rows.row_bytes, run.places};
  const std::byte* HWY_RESTRICT indices =
      run.indices + c.offset * static_cast<int64_t>(sizeof(Index));
  const int64_t ahead =
      rows.prefetch_rows < kPrefetch.direct_rows ? rows.prefetch_rows : kPrefetch.direct_rows;
  const DirectAhead prefetch{ahead, ahead > 0 ? rows.count - ahead - kGroup : -1,
                             rows.indices_go_on, rows.output_far};
  int64_t bad = 0;
  in_runs(rows, [=, &bad](int64_t begin, int64_t end)
                    HWY_ATTR { bad |= copy_run<Index>(row, rule, indices, prefetch, begin, end); });
  return bad == 0;
}

// Rows of more than kPart and less than 2 * kPart bytes. On arm64, packed rows of a multiple of 4
// bytes, from kBytes on, have their own loop: a Neoverse V1 takes 1.2 to 7 times as long over
// a row whose parts overlap in the output. Not inlined: short calls with rows of other sizes would
// pay for its registers.
template <class Index, int64_t kPart, int64_t kBytes = kPart + 4>
HWY_NOINLINE bool copy_between(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if constexpr (kProcessor.slow_overlapping_stores && kPart >= 8 && kBytes < 2 * kPart) {
    if (rows.row_bytes != kBytes) {
      return copy_between<Index, kPart, kBytes + 4>(nest, run, rows);
    }
    if (nest.coordinates[0].stride == kBytes && run.data_step == 0) {
      return copy_rows_of<Index, kBytes, false, DataMoves::kNot>(nest, run, rows);
    }
  }
  return copy_rows_of<Index, kPart, true, DataMoves::kSteps>(nest, run, rows);
}

// As move_by_size: row_bytes is kPart or more.
template <class Index, int64_t kPart>
bool copy_by_size(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if (rows.row_bytes == kPart) {
    if (run.places != nullptr) {
      return copy_rows_of<Index, kPart, false, DataMoves::kPlaces>(nest, run, rows);
    }
    return nest.coordinates[0].stride == kPart && run.data_step == 0
               ? copy_rows_of<Index, kPart, false, DataMoves::kNot>(nest, run, rows)
               : copy_rows_of<Index, kPart, false, DataMoves::kSteps>(nest, run, rows);
  }
  if constexpr (2 * kPart <= kNarrowRow) {
    return rows.row_bytes < 2 * kPart ? copy_between<Index, kPart>(nest, run, rows)
                                      : copy_by_size<Index, 2 * kPart>(nest, run, rows);
  }
  return true;  // no such size
}

// Calls move(nest, run, rows), which says whether no index was clamped, for each of run.steps.
template <class Index, class MoveRun>
HWY_INLINE bool for_each_step(const Nest& nest, const IndexRun& run, const RowMove& rows,
                              MoveRun move) {
  if (run.steps.count == 1) {
    return move(nest, run, rows) || !run.check;
  }
  IndexRun step = run;
  RowMove step_rows = rows;
  bool good = true;
  for (int64_t s = 0; s < run.steps.count; ++s) {
    good &= move(nest, step, step_rows);
    step.indices += run.steps.index * static_cast<int64_t>(sizeof(Index));
    advance(step_rows, run.steps, sizeof(Index));
  }
  return good || !run.check;
}

bool copy_direct(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return nest.index_type == i32 ? for_each_step<int32_t>(nest, run, rows, copy_by_size<int32_t, 1>)
                                : for_each_step<int64_t>(nest, run, rows, copy_by_size<int64_t, 1>);
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
