// SPDX-License-Identifier: MIT
//
// Are all indices in range? One comparison per index, no branch: the compiler turns the inner loop
// into vectors of each target.
#if defined(SHEAF_CPU_CHECK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_CHECK_INL
#undef SHEAF_CPU_CHECK_INL
#else
#define SHEAF_CPU_CHECK_INL
#endif

#include <type_traits>

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/movers/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Index>
bool in_range_run(const std::byte* indices, int64_t stride, int64_t count, RangeRule rule) {
  uint64_t bad = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      bad |= static_cast<uint64_t>(out_of_range(rule, load_index<Index>(indices, i)));
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      bad |= static_cast<uint64_t>(out_of_range(rule, load_index<Index>(indices, i * stride)));
    }
  }
  return bad == 0;
}

#if HWY_TARGET != HWY_SCALAR
// A vector from any address.
template <class D>
HWY_INLINE hn::Vec<D> load_lanes(D d, const std::byte* lanes, int64_t i) {
  const hn::Repartition<uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(lanes) +
                                             i * int64_t{sizeof(hn::TFromD<D>)}));
}
#endif

// The same for 4- and 8-byte indices side by side, whatever the compiler makes of it: four vectors
// per step keep enough comparisons in flight to read at the speed of memory. `shifts` and `limits`
// hold a rule for even and one for odd lanes. Returns how many elements it looked at, or -1 if one
// of them is out of range.
template <class Lane>
HWY_INLINE int64_t in_range_vectors([[maybe_unused]] const std::byte* indices,
                                    [[maybe_unused]] int64_t count,
                                    [[maybe_unused]] const Lane (&shifts)[2],
                                    [[maybe_unused]] const Lane (&limits)[2]) {
#if HWY_TARGET == HWY_SCALAR
  return 0;
#else
  const hn::ScalableTag<Lane> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const auto shift = hn::OddEven(hn::Set(d, shifts[1]), hn::Set(d, shifts[0]));
  const auto limit = hn::OddEven(hn::Set(d, limits[1]), hn::Set(d, limits[0]));
  auto first = hn::Eq(hn::Zero(d), hn::Zero(d));
  auto second = first;
  int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    constexpr int64_t kBytes = sizeof(Lane);
    for (int64_t line = 0; line < 4 * n * kBytes; line += kLine) {
      prefetch_ahead<2>(indices + i * kBytes, kProcessor.sequence_ahead + line);
    }
    const auto a = hn::Lt(hn::Add(load_lanes(d, indices, i), shift), limit);
    const auto b = hn::Lt(hn::Add(load_lanes(d, indices, i + n), shift), limit);
    const auto c = hn::Lt(hn::Add(load_lanes(d, indices, i + 2 * n), shift), limit);
    const auto e = hn::Lt(hn::Add(load_lanes(d, indices, i + 3 * n), shift), limit);
    first = hn::And(first, hn::And(a, b));
    second = hn::And(second, hn::And(c, e));
  }
  return hn::AllTrue(d, hn::And(first, second)) ? i : -1;
#endif
}

// Pairs of int64 side by side are read once: even lanes are first components, odd ones second ones.
inline bool in_range_pairs(const std::byte* pairs, int64_t count, RangeRule first,
                           RangeRule second) {
  const int64_t looked = in_range_vectors<uint64_t>(pairs, 2 * count, {first.shift, second.shift},
                                                    {first.limit, second.limit});
  if (looked < 0) {
    return false;
  }
  const std::byte* rest = pairs + looked * 8;  // a whole number of pairs
  return in_range_run<int64_t>(rest, 2, count - looked / 2, first) &&
         in_range_run<int64_t>(rest + 8, 2, count - looked / 2, second);
}

// One component of indices side by side.
template <class Index>
bool in_range_packed(const std::byte* indices, int64_t count, RangeRule rule) {
  int64_t looked = 0;
  if constexpr (sizeof(Index) == 8) {
    looked = in_range_vectors<uint64_t>(indices, count, {rule.shift, rule.shift},
                                        {rule.limit, rule.limit});
  } else if constexpr (sizeof(Index) == 4) {
    // In 32 bits the rule is the same as long as it fits.
    if (rule.limit <= UINT32_MAX) {
      const auto shift = static_cast<uint32_t>(rule.shift);
      const auto limit = static_cast<uint32_t>(rule.limit);
      looked = in_range_vectors<uint32_t>(indices, count, {shift, shift}, {limit, limit});
    }
  }
  return looked >= 0 && in_range_run<Index>(indices + looked * static_cast<int64_t>(sizeof(Index)),
                                            1, count - looked, rule);
}

inline bool are_pairs(const Nest& nest, int64_t stride) {
  return nest.index_type == i64 && stride == 2 && nest.coordinates.size() == 2 &&
         nest.coordinates[0].offset == 0 && nest.coordinates[1].offset == 1;
}

template <class Index>
bool check_run(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points) {
  if (are_pairs(nest, stride)) {
    return in_range_pairs(indices, points, range_rule<Index>(nest, nest.coordinates[0]),
                          range_rule<Index>(nest, nest.coordinates[1]));
  }
  // In pieces, so that a bad index is noticed early and tuples are read from the cache again.
  constexpr int64_t kPiece = kWalk.tuples;
  for (int64_t begin = 0; begin < points; begin += kPiece) {
    const int64_t count = points - begin < kPiece ? points - begin : kPiece;
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const RangeRule rule = range_rule<Index>(nest, nest.coordinates[c]);
      const std::byte* first = indices + (begin * stride + nest.coordinates[c].offset) *
                                             static_cast<int64_t>(sizeof(Index));
      if (!(stride == 1 ? in_range_packed<Index>(first, count, rule)
                        : in_range_run<Index>(first, stride, count, rule))) {
        return false;
      }
    }
  }
  return true;
}

bool check_indices(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points) {
  return with_index_type(nest.index_type, [&](auto zero) {
    return check_run<decltype(zero)>(nest, indices, stride, points);
  });
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
