// SPDX-License-Identifier: MIT
//
// Narrow rows that lie in cache, straight from index values: the next indices are resolved while
// rows are still on their way to memory, which two steps, one after the other, cannot do.
#if defined(SHEAF_CPU_COPY_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_COPY_DIRECT_INL
#undef SHEAF_CPU_COPY_DIRECT_INL
#else
#define SHEAF_CPU_COPY_DIRECT_INL
#endif

#include <cstring>

#include "backends/cpu/gather_direct-inl.h"
#include "backends/cpu/index_rule-inl.h"
#include "backends/cpu/move-inl.h"
#include "backends/cpu/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// Rows of kPart bytes; if kTwice, of more than kPart and up to 2 * kPart bytes.
template <class Index, int64_t kPart, bool kTwice, bool kCheck>
bool copy_rows_of(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  const Coordinate& c = nest.coordinates[0];
  const EntryRule rule = entry_rule(nest, c);
  const int64_t stride = c.stride;
  const int64_t data_step = run.data_step;
  const int64_t row_bytes = rows.row_bytes;
  const std::byte* indices = run.indices + c.offset * static_cast<int64_t>(sizeof(Index));
  const std::byte* HWY_RESTRICT data = rows.data;
  std::byte* HWY_RESTRICT output = rows.output;
  int64_t bad = 0;
  in_runs(rows, [=, &bad](int64_t i, int64_t end) HWY_ATTR {
    int64_t bad_here = 0;
    for (; i < end; ++i) {
      const int64_t entry = clamped_entry<kCheck>(rule, load_index<Index>(indices, i), bad_here);
      const std::byte* from = data + entry * stride + i * data_step;
      std::byte* to = output + i * (kTwice ? row_bytes : kPart);
      std::memcpy(to, from, kPart);
      if constexpr (kTwice) {
        std::memcpy(to + row_bytes - kPart, from + row_bytes - kPart, kPart);
      }
    }
    bad |= bad_here;
  });
  return bad == 0;
}

// As move_by_size: row_bytes is kPart or more.
template <class Index, bool kCheck, int64_t kPart>
bool copy_by_size(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if (rows.row_bytes == kPart) {
    return copy_rows_of<Index, kPart, false, kCheck>(nest, run, rows);
  }
  if constexpr (2 * kPart <= kNarrowRow) {
    return rows.row_bytes < 2 * kPart ? copy_rows_of<Index, kPart, true, kCheck>(nest, run, rows)
                                      : copy_by_size<Index, kCheck, 2 * kPart>(nest, run, rows);
  }
  return true;  // no such size
}

template <class Index, bool kCheck>
bool move_indexed(const Nest& nest, const IndexRun& run, const RowMove& rows) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if (rows.hardware_gather) {
    return gather_indices<Index, kCheck>(nest, run, rows);
  }
#endif
  return copy_by_size<Index, kCheck, 1>(nest, run, rows);
}

template <bool kCheck>
bool move_any_index(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return nest.index_type == i32 ? move_indexed<int32_t, kCheck>(nest, run, rows)
                                : move_indexed<int64_t, kCheck>(nest, run, rows);
}

bool move_direct(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return run.check ? move_any_index<true>(nest, run, rows) : move_any_index<false>(nest, run, rows);
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
