// SPDX-License-Identifier: MIT
//
// The loops that reduce rows, for every type and reduction. Plain C++ that the compiler turns into
// vectors of each instruction set; what an element becomes is defined in plan/reduce.h.
#if defined(SHEAF_CPU_REDUCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_REDUCE_INL
#undef SHEAF_CPU_REDUCE_INL
#else
#define SHEAF_CPU_REDUCE_INL
#endif

#include <cstring>
#include <type_traits>

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/scatter/reduce.h"
#include "backends/cpu/scatter/small_float-inl.h"
#include "backends/cpu/short_runs.h"
#include "plan/reduce.h"
#include "support/bit_cast.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// A number in memory: tensors may begin at any byte.
template <class T>
struct Loose {
  using type [[gnu::aligned(1), gnu::may_alias]] = T;
};

// One update reduced into one element. `Stored` is its type, `Element` the same in memory.
// kComputes: compute() does the same but for which NaN it makes.
template <Reduction kReduction, class T>
struct Plain {
  using Stored = T;
  using Element = typename Loose<T>::type;
  static constexpr bool kComputes = std::is_floating_point_v<T> && computes(kReduction);
  static HWY_INLINE T reduce(T cell, T update) { return reduced<kReduction>(cell, update); }
  static HWY_INLINE T compute(T cell, T update) { return computed<kReduction>(cell, update); }
};

template <Reduction kReduction>
struct Bool {
  using Stored = uint8_t;
  using Element = typename Loose<uint8_t>::type;
  static HWY_INLINE uint8_t reduce(uint8_t cell, uint8_t update) {
    return reduced_truth<kReduction>(Truth{cell}, Truth{update}).byte;
  }
};

// In float, then rounded: float has more than twice the digits, so this is what rounding the exact
// result once would give.
template <Reduction kReduction, class Format>
struct Small {
  using Stored = uint16_t;
  using Element = typename Loose<uint16_t>::type;
  static HWY_INLINE uint16_t reduce(uint16_t cell, uint16_t update) {
    return Format::narrow(reduced_float<kReduction>(Format::widen(cell), Format::widen(update)));
  }
};

HWY_INLINE void prefetch_row(const std::byte* row, int64_t bytes) {
  const int64_t ahead = bytes < kPrefetch.of_reduced_row ? bytes : kPrefetch.of_reduced_row;
  for (int64_t at = 0; at < ahead; at += kLine) {
    __builtin_prefetch(row + at);
  }
  __builtin_prefetch(row + ahead - 1);
}

// Calls reduce(data row, update row) for each update, in order. Prefetches rows of data that are
// not in cache (kFar), and listed updates: those are never in a row.
template <bool kListed, bool kFar, class ReduceOne>
HWY_INLINE void visit_rows(const RowReduction& rows, ReduceOne reduce) {
  // Locals: a store of bytes might change what a reference refers to.
  std::byte* const data = rows.data;
  const std::byte* const updates = rows.updates;
  const int64_t* const to = rows.to;
  const int64_t* const from = rows.from;
  const int64_t step = rows.update_step;
  const int64_t count = rows.count;
  const int64_t bytes = rows.row_bytes;
  const int64_t ahead = kFar ? rows.prefetch_rows : kPrefetch.listed_updates;
  for (int64_t i = 0; i < count; ++i) {
    if ((kListed || kFar) && i + ahead < count) {
      if (kFar) {
        prefetch_row(data + to[i + ahead], bytes);
      }
      if (kListed) {
        prefetch_row(updates + from[i + ahead], bytes);
      }
    }
    reduce(data + to[i], updates + (kListed ? from[i] : i * step));
  }
}

template <class ReduceOne>
HWY_INLINE void for_each_row(const RowReduction& rows, ReduceOne reduce) {
  if (rows.from != nullptr && rows.prefetch_rows > 0) {
    visit_rows<true, true>(rows, reduce);
  } else if (rows.from != nullptr) {
    visit_rows<true, false>(rows, reduce);
  } else if (rows.prefetch_rows > 0) {
    visit_rows<false, true>(rows, reduce);
  } else {
    visit_rows<false, false>(rows, reduce);
  }
}

template <class Op>
void reduce_elements(const RowReduction& rows) {
  using Element = typename Op::Element;
  for_each_row(rows, [](std::byte* cell, const std::byte* update) HWY_ATTR {
    auto* at = reinterpret_cast<Element*>(cell);
    *at = Op::reduce(*at, *reinterpret_cast<const Element*>(update));
  });
}

template <class Float>
HWY_INLINE void load_updates([[maybe_unused]] const std::byte* updates,
                             [[maybe_unused]] Float (&values)[kGroup]) {
#if HWY_ARCH_ARM_A64
  using Vector [[gnu::vector_size(16)]] = Float;
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = Vector;
  constexpr int64_t kLanes = 16 / sizeof(Float);
  for (int64_t k = 0; k < kGroup; k += kLanes) {
    Vector lanes = *reinterpret_cast<const Unaligned*>(updates + k * int64_t{sizeof(Float)});
    asm("" : "+w"(lanes));  // else g++ loads lane by lane
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      values[k + lane] = lanes[lane];
    }
  }
#endif
}

// Single elements, each at the place that its index leads to. Unless data moves in steps, the
// elements that indices count lie side by side, and so do the updates.
template <class Op, DataMoves kMoves>
struct IndexedElements {
  static constexpr bool kPacked = kMoves != DataMoves::kSteps;
  using Element = typename Op::Element;
  std::byte* data;
  const std::byte* updates;
  const std::byte* indices;
  const int32_t* places;
  int64_t stride, data_step, update_step, next_data;
  bool indices_go_on, updates_go_on;

  IndexedElements(const DirectReduction& direct, const RowReduction& rows)
      : data(rows.data),
        updates(rows.updates),
        indices(direct.indices),
        places(direct.places),
        stride(kPacked ? int64_t{sizeof(Element)} : direct.stride),
        data_step(kPacked ? 0 : direct.data_step),
        update_step(kPacked ? int64_t{sizeof(Element)} : rows.update_step),
        next_data(direct.next_data),
        indices_go_on(direct.indices_go_on),
        updates_go_on(direct.updates_go_on) {}

  HWY_INLINE Element& cell(int64_t i, int64_t entry) const {
    std::byte* const at = data + entry * (kPacked ? int64_t{sizeof(Element)} : stride) + moved(i);
    return *reinterpret_cast<Element*>(at);
  }
  HWY_INLINE int64_t moved(int64_t i) const {
    return kMoves == DataMoves::kPlaces  ? places[i]
           : kMoves == DataMoves::kSteps ? i * data_step
                                         : 0;
  }
  HWY_INLINE typename Op::Stored update(int64_t i) const {
    const std::byte* const at = updates + i * (kPacked ? int64_t{sizeof(Element)} : update_step);
    return *reinterpret_cast<const Element*>(at);
  }
  // An index as it stands: few count from the end. One out of range must not make a pointer.
  HWY_INLINE void prefetch(int64_t i, int64_t index) const {
    const uint64_t offset = uint64_t(index) * uint64_t(stride) + uint64_t(moved(i));
    prefetch_line(bit_cast<const std::byte*>(reinterpret_cast<uintptr_t>(data) + offset));
  }
  // For the group of updates at i: the indices Processor::sequence_ahead bytes later, their
  // updates, and a part of the data that is reduced next, an element for each update.
  HWY_INLINE void prefetch_sequences(int64_t i) const {
    constexpr int64_t kBytes = sizeof(Element);
    constexpr int64_t kIndexBytes = 8;
    if (indices_go_on) {
      prefetch_ahead<2>(indices + i * kIndexBytes, kProcessor.sequence_ahead);
    }
    if (i % (kLine / kBytes) == 0) {  // a line of 4-byte elements serves two groups
      if (updates_go_on) {
        prefetch_ahead<2>(updates + i * kBytes, kProcessor.sequence_ahead / kIndexBytes * kBytes);
      }
      if (next_data != 0) {
        prefetch_ahead<1>(data, next_data + i * kBytes);
      }
    }
  }

  HWY_INLINE void reduce(int64_t i, int64_t entry) const {
    Element& at = cell(i, entry);
    at = Op::reduce(at, update(i));
  }
  HWY_INLINE void reduce_group(int64_t i, const int64_t (&entries)[kGroup]) const {
    if constexpr (Op::kComputes) {
      constexpr bool kVectors = kPacked && kProcessor.few_loads;
      typename Op::Stored values[kGroup];
      typename Op::Stored results[kGroup];
      if constexpr (kVectors) {
        load_updates(updates + i * int64_t{sizeof(Element)}, values);
      }
      HWY_UNROLL(8)
      for (int64_t k = 0; k < kGroup; ++k) {
        Element& at = cell(i + k, entries[k]);
        results[k] = Op::compute(at, kVectors ? values[k] : update(i + k));
        at = results[k];
      }
      if (HWY_UNLIKELY(have_nan(results))) {
        for (int64_t k = 0; k < kGroup; ++k) {
          Element& at = cell(i + k, entries[k]);
          at = one_nan(typename Op::Stored(at));
        }
      }
    } else {
      HWY_UNROLL(8)
      for (int64_t k = 0; k < kGroup; ++k) {
        reduce(i + k, entries[k]);
      }
    }
  }

 private:
  // Two at a time, by comparisons that raise no exception.
  template <class Float>
  static HWY_INLINE bool have_nan(const Float (&x)[kGroup]) {
    static_assert(kGroup == 8);
    return __builtin_isunordered(x[0], x[1]) || __builtin_isunordered(x[2], x[3]) ||
           __builtin_isunordered(x[4], x[5]) || __builtin_isunordered(x[6], x[7]);
  }
};

template <class Op, DataMoves kMoves>
bool reduce_indexed(const DirectReduction& direct, const RowReduction& rows) {
  constexpr int64_t kAhead = kPrefetch.direct_rows;
  const EntryRule rule{direct.from_end, direct.extent - 1};
  const std::byte* const indices = direct.indices;
  const int64_t count = rows.count;
  const int64_t last_prefetch = rows.prefetch_rows > 0 ? count - kAhead - kGroup : -1;
  // Where data is far, its own lines are the bottleneck, and more prefetches delay them.
  const bool sequences = kMoves != DataMoves::kSteps && rows.prefetch_rows == 0;
  const IndexedElements<Op, kMoves> elements(direct, rows);
  int64_t bad = 0;
  int64_t i = 0;
  int64_t entries[kGroup];
  for (; i + kGroup <= count; i += kGroup) {
    load_entries<int64_t>(rule, indices, i, entries, bad);
    if (i <= last_prefetch) {
      HWY_UNROLL(8)
      for (int64_t k = 0; k < kGroup; ++k) {
        elements.prefetch(i + kAhead + k, load_index<int64_t>(indices, i + kAhead + k));
      }
    }
    if (sequences) {
      elements.prefetch_sequences(i);
    }
    elements.reduce_group(i, entries);
  }
  for (; i < count; ++i) {
    elements.reduce(i, clamped_entry<true>(rule, load_index<int64_t>(indices, i), bad));
  }
  return bad == 0;
}

template <class Op>
bool reduce_direct(const DirectReduction& direct, const RowReduction& rows) {
  constexpr int64_t kBytes = sizeof(typename Op::Stored);
  if (direct.places != nullptr) {
    return reduce_indexed<Op, DataMoves::kPlaces>(direct, rows);
  }
  return direct.stride == kBytes && direct.data_step == 0 && rows.update_step == kBytes
             ? reduce_indexed<Op, DataMoves::kNot>(direct, rows)
             : reduce_indexed<Op, DataMoves::kSteps>(direct, rows);
}

template <class Op>
void reduce_rows(const RowReduction& rows) {
  using Element = typename Op::Element;
  const int64_t elements = rows.row_bytes / static_cast<int64_t>(sizeof(typename Op::Stored));
  for_each_row(rows, [elements](std::byte* row, const std::byte* update) HWY_ATTR {
    auto* HWY_RESTRICT cells = reinterpret_cast<Element*>(row);
    const auto* HWY_RESTRICT values = reinterpret_cast<const Element*>(update);
    for (int64_t j = 0; j < elements; ++j) {
      cells[j] = Op::reduce(cells[j], values[j]);
    }
  });
}

void reduce_by_definition(const RowReduction& rows) {
  const int64_t bytes = rows.row_bytes;
  const ReduceRow reduce = rows.reduce;
  for_each_row(rows, [=](std::byte* row, const std::byte* update) { reduce(row, update, bytes); });
}

// Elements of 1, 2, 4 and 8 bytes are copied as such; other rows by the library's memcpy.
template <class T>
void copy_elements(const RowReduction& rows) {
  for_each_row(rows, [](std::byte* row, const std::byte* update)
                         HWY_ATTR { std::memcpy(row, update, sizeof(T)); });
}

void copy_rows(const RowReduction& rows) {
  const auto bytes = static_cast<size_t>(rows.row_bytes);
  for_each_row(rows, [bytes](std::byte* row, const std::byte* update)
                         HWY_ATTR { std::memcpy(row, update, bytes); });
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
