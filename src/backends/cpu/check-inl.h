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

template <class Index>
bool check_run(const Nest& nest, const std::byte* indices, int64_t stride, int64_t points) {
  // In pieces, so that a bad index is noticed early and tuples are read from the cache again.
  constexpr int64_t kPiece = 4096;
  for (int64_t begin = 0; begin < points; begin += kPiece) {
    const int64_t count = points - begin < kPiece ? points - begin : kPiece;
    for (const Coordinate& c : nest.coordinates) {
      const auto extent = static_cast<uint64_t>(c.extent);
      const bool from_end = std::is_signed_v<Index> && nest.negative == Negative::kFromEnd;
      const std::byte* first =
          indices + (begin * stride + c.offset) * static_cast<int64_t>(sizeof(Index));
      if (!in_range_run<Index>(first, stride, count, from_end ? extent : 0,
                               from_end ? 2 * extent : extent)) {
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
