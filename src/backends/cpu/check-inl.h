// SPDX-License-Identifier: MIT
//
// Are all indices in range? One comparison an index, no branch: the compiler turns the inner loop
// into vectors of each target.
#if defined(SHEAF_CPU_CHECK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_CHECK_INL
#undef SHEAF_CPU_CHECK_INL
#else
#define SHEAF_CPU_CHECK_INL
#endif

#include <type_traits>

#include "backends/cpu/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// v is in range iff v + shift < limit as unsigned numbers, where shift is the extent if negative
// values count from the end and 0 if not. The sum cannot reach 2^64: both are below 2^63.
template <class Index>
bool in_range_run(const std::byte* indices, int64_t stride, int64_t count, uint64_t shift,
                  uint64_t limit) {
  uint64_t bad = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<uint64_t>(widen(load_index<Index>(indices, i)));
      bad |= static_cast<uint64_t>(value + shift >= limit);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<uint64_t>(widen(load_index<Index>(indices, i * stride)));
      bad |= static_cast<uint64_t>(value + shift >= limit);
    }
  }
  return bad == 0;
}

// What one component is held against: as in_range_run has it.
struct Bounds {
  uint64_t shift, limit;
};
template <class Index>
Bounds bounds(const Nest& nest, int component) {
  const auto extent = static_cast<uint64_t>(nest.coordinates[component].extent);
  const bool from_end = std::is_signed_v<Index> && nest.negative == Negative::kFromEnd;
  return from_end ? Bounds{extent, 2 * extent} : Bounds{0, extent};
}

// Pairs of int64 side by side are read once: even lanes are first components, odd ones second ones.
inline bool in_range_pairs(const std::byte* pairs, int64_t count, const Bounds& first,
                           const Bounds& second) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint64_t> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  alignas(16) const uint64_t shifts[2] = {first.shift, second.shift};
  alignas(16) const uint64_t limits[2] = {first.limit, second.limit};
  const auto shift = hn::LoadDup128(d, shifts);
  const auto limit = hn::LoadDup128(d, limits);
  const auto* values = reinterpret_cast<const uint64_t*>(pairs);
  auto good = hn::FirstN(d, static_cast<size_t>(n));
  for (; done + n / 2 <= count; done += n / 2) {
    good = hn::And(good, hn::Lt(hn::Add(hn::LoadU(d, values + 2 * done), shift), limit));
  }
  if (!hn::AllTrue(d, good)) {
    return false;
  }
#endif
  const std::byte* rest = pairs + done * 16;
  return in_range_run<int64_t>(rest, 2, count - done, first.shift, first.limit) &&
         in_range_run<int64_t>(rest + 8, 2, count - done, second.shift, second.limit);
}

inline bool are_pairs(const Nest& nest, int64_t stride) {
  return nest.index_type == i64 && stride == 2 && nest.coordinates.size() == 2 &&
         nest.coordinates[0].offset == 0 && nest.coordinates[1].offset == 1;
}

template <class Index>
bool check_run(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points) {
  if (are_pairs(nest, stride)) {
    return in_range_pairs(indices, points, bounds<Index>(nest, 0), bounds<Index>(nest, 1));
  }
  // In pieces, so that a bad index is noticed early and tuples are read from the cache again.
  constexpr int64_t kPiece = 4096;
  for (int64_t begin = 0; begin < points; begin += kPiece) {
    const int64_t count = points - begin < kPiece ? points - begin : kPiece;
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const Bounds bound = bounds<Index>(nest, c);
      const std::byte* first = indices + (begin * stride + nest.coordinates[c].offset) *
                                             static_cast<int64_t>(sizeof(Index));
      if (!in_range_run<Index>(first, stride, count, bound.shift, bound.limit)) {
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
