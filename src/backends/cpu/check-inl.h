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

#include "backends/cpu/index_rule-inl.h"
#include "backends/cpu/routines.h"
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

// Pairs of int64 side by side are read once: even lanes are first components, odd ones second ones.
inline bool in_range_pairs(const std::byte* pairs, int64_t count, RangeRule first,
                           RangeRule second) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint64_t> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  alignas(16) const uint64_t shifts[2] = {first.shift, second.shift};
  alignas(16) const uint64_t limits[2] = {first.limit, second.limit};
  const auto shift = hn::LoadDup128(d, shifts);
  const auto limit = hn::LoadDup128(d, limits);
  const hn::Repartition<uint8_t, decltype(d)> bytes;  // pairs may stand at any address
  const auto* values = reinterpret_cast<const uint8_t*>(pairs);
  auto good = hn::FirstN(d, static_cast<size_t>(n));
  for (; done + n / 2 <= count; done += n / 2) {
    const auto pair = hn::BitCast(d, hn::LoadU(bytes, values + 16 * done));
    good = hn::And(good, hn::Lt(hn::Add(pair, shift), limit));
  }
  if (!hn::AllTrue(d, good)) {
    return false;
  }
#endif
  const std::byte* rest = pairs + done * 16;
  return in_range_run<int64_t>(rest, 2, count - done, first) &&
         in_range_run<int64_t>(rest + 8, 2, count - done, second);
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
  constexpr int64_t kPiece = 4096;
  for (int64_t begin = 0; begin < points; begin += kPiece) {
    const int64_t count = points - begin < kPiece ? points - begin : kPiece;
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const RangeRule rule = range_rule<Index>(nest, nest.coordinates[c]);
      const std::byte* first = indices + (begin * stride + nest.coordinates[c].offset) *
                                             static_cast<int64_t>(sizeof(Index));
      if (!in_range_run<Index>(first, stride, count, rule)) {
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
