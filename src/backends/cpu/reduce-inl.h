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

#include "backends/cpu/machine.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/small_float-inl.h"
#include "plan/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// A number in memory: tensors may begin at any byte.
template <class T>
struct Loose {
  using type [[gnu::aligned(1), gnu::may_alias]] = T;
};

// One update reduced into one element. `Stored` is its type, `Element` the same in memory.
template <Reduction kReduction, class T>
struct Plain {
  using Stored = T;
  using Element = typename Loose<T>::type;
  static HWY_INLINE T reduce(T cell, T update) { return reduced<kReduction>(cell, update); }
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
  constexpr int64_t kMost = 512;  // the processor's own prefetcher takes over behind that
  const int64_t asked = bytes < kMost ? bytes : kMost;
  for (int64_t at = 0; at < asked; at += kLine) {
    prefetch_line(row + at);
  }
  prefetch_line(row + asked - 1);
}

// Calls reduce(data row, update row) for each update, in order.
template <bool kListed, bool kAhead, class ReduceOne>
HWY_INLINE void visit_rows(const RowReduction& rows, ReduceOne reduce) {
  // Locals: a store of bytes might change what a reference refers to.
  std::byte* const data = rows.data;
  const std::byte* const updates = rows.updates;
  const int64_t* const to = rows.to;
  const int64_t* const from = rows.from;
  const int64_t step = rows.update_step;
  const int64_t count = rows.count;
  const int64_t bytes = rows.row_bytes;
  const int64_t ahead = rows.prefetch_rows;
  for (int64_t i = 0; i < count; ++i) {
    if (kAhead && i + ahead < count) {
      prefetch_row(data + to[i + ahead], bytes);
      if (kListed) {
        prefetch_row(updates + from[i + ahead], bytes);
      }
    }
    reduce(data + to[i], updates + (kListed ? from[i] : i * step));
  }
}

template <class ReduceOne>
HWY_INLINE void for_each_row(const RowReduction& rows, ReduceOne reduce) {
  if (rows.from != nullptr) {  // sorted by place: the updates are what is far
    visit_rows<true, true>(rows, reduce);
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
