// SPDX-License-Identifier: MIT
//
// The index rule as the CPU's loops use it, on one value and on vectors: clamp, range check and
// trust. plan/resolve.h is the definition, and the tests hold this file against it.
#if defined(SHEAF_CPU_INDEX_RULE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_INDEX_RULE_INL
#undef SHEAF_CPU_INDEX_RULE_INL
#else
#define SHEAF_CPU_INDEX_RULE_INL
#endif

#include <cstdint>
#include <type_traits>

#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One coordinate's rule. Locals hold it in the loops: a store of bytes might change what a
// reference refers to.
struct EntryRule {
  int64_t from_end;  // added to negative values
  int64_t last;      // the last entry
};

HWY_INLINE EntryRule entry_rule(const Nest& nest, const Coordinate& c) {
  return {nest.negative == Negative::kFromEnd ? c.extent : 0, c.extent - 1};
}

// The entry that a value in range names.
template <class Index>
HWY_INLINE int64_t trusted_entry(EntryRule rule, Index value) {
  const int64_t at = widen(value);
  return at + (at < 0 ? rule.from_end : 0);  // cannot wrap: at < 0 <= from_end
}

// The nearest entry: always inside data. With kCheck, `bad` becomes not 0 if the value is out of
// range.
template <bool kCheck, class Index>
HWY_INLINE int64_t clamped_entry(EntryRule rule, Index value, int64_t& bad) {
  const int64_t at = trusted_entry(rule, value);
  int64_t entry = at < 0 ? 0 : at;
  entry = entry > rule.last ? rule.last : entry;
  if constexpr (kCheck) {
    bad |= at ^ entry;
  }
  return entry;
}

// Indices that are looked at together: if all of them name entries as they are, which is one
// comparison each and one branch, nothing else is to be done.
inline constexpr int64_t kGroup = 8;

template <class Index>
HWY_INLINE void load_entries(EntryRule rule, const std::byte* indices, int64_t i, int64_t* entries,
                             int64_t& bad) {
  bool plain = true;
  HWY_UNROLL(8)
  for (int64_t k = 0; k < kGroup; ++k) {
    entries[k] = widen(load_index<Index>(indices, i + k));
    plain = plain && static_cast<uint64_t>(entries[k]) <= static_cast<uint64_t>(rule.last);
  }
  if (HWY_UNLIKELY(!plain)) {
    for (int64_t k = 0; k < kGroup; ++k) {
      entries[k] = clamped_entry<true>(rule, entries[k], bad);
    }
  }
}

// The nearest entries of a vector of int64.
template <bool kCheck, class D64, class V = hn::Vec<D64>>
HWY_INLINE V clamped_entries(D64 d, V from_end, V last, V index, V& bad) {
  const V at = hn::Add(index, hn::And(hn::BroadcastSignBit(index), from_end));
  const V entry = hn::Min(hn::Max(at, hn::Zero(d)), last);
  if constexpr (kCheck) {
    bad = hn::Or(bad, hn::Xor(at, entry));
  }
  return entry;
}

// A range check without a branch: a value is in range iff value + shift < limit as unsigned
// numbers. The sum cannot reach 2^64: both terms are below 2^63.
struct RangeRule {
  uint64_t shift, limit;
};

template <class Index>
HWY_INLINE RangeRule range_rule(const Nest& nest, const Coordinate& c) {
  const auto extent = static_cast<uint64_t>(c.extent);
  const bool from_end = std::is_signed_v<Index> && nest.negative == Negative::kFromEnd;
  return from_end ? RangeRule{extent, 2 * extent} : RangeRule{0, extent};
}

template <class Index>
HWY_INLINE bool out_of_range(RangeRule rule, Index value) {
  return static_cast<uint64_t>(widen(value)) + rule.shift >= rule.limit;
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
