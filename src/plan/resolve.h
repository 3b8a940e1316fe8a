// SPDX-License-Identifier: MIT
//
// The index rule on one value: the one definition. Backends that write it differently for speed are
// held against this by the tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sheaf/index_rule.h"
#include "sheaf/plan.h"

namespace sheaf {

inline constexpr int64_t kOutside = -1;

// An index as int64. Unsigned values above 2^63 - 1 become INT64_MAX: beyond every extent, as they
// are, and never negative.
template <class Index>
constexpr int64_t widen(Index value) {
  if constexpr (std::is_same_v<Index, uint64_t>) {
    return value > uint64_t{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(value);
  } else {
    return int64_t{value};
  }
}

// The entry of [0, extent) that `value` names, or kOutside. From-end values are
// resolved before the range is looked at.
template <class Index>
constexpr int64_t in_range_or_outside(Index value, int64_t extent, Negative negative) {
  int64_t at = widen(value);
  if (at < 0 && negative == Negative::kFromEnd) {
    at += extent;  // cannot wrap: at < 0 < extent
  }
  return at >= 0 && at < extent ? at : kOutside;
}

// The same for a place in a window that starts at `value`: the start may itself lie outside.
template <class Index>
constexpr int64_t in_range_or_outside(Index value, int64_t window, int64_t extent,
                                      Negative negative) {
  int64_t start = widen(value);
  if (start < 0 && negative == Negative::kFromEnd) {
    start += extent;
  }
  return start >= -window && start < extent - window ? start + window : kOutside;
}

// The entry that `value` names under the whole rule. kOutside only for kFill, kSkip and kFail.
template <class Index>
constexpr int64_t resolve(Index value, int64_t extent, Negative negative, OutOfRange out_of_range) {
  const int64_t at = in_range_or_outside(value, extent, negative);
  if (at != kOutside) {
    return at;
  }
  switch (out_of_range) {
    case OutOfRange::kClamp: return widen(value) < 0 ? 0 : extent - 1;
    case OutOfRange::kWrap:
      if constexpr (std::is_signed_v<Index>) {
        const int64_t rest = int64_t{value} % extent;
        return rest < 0 ? rest + extent : rest;
      } else {
        return static_cast<int64_t>(uint64_t{value} % static_cast<uint64_t>(extent));
      }
    case OutOfRange::kTrust:
      return widen(value);  // the caller's promise is broken; so is what follows
    case OutOfRange::kFail:
    case OutOfRange::kFill:
    case OutOfRange::kSkip: break;
  }
  return kOutside;
}

template <class Index>
Index load_index(const std::byte* indices, int64_t element) {
  Index value;
  std::memcpy(&value, indices + element * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

// Calls f with a value of the C++ type of an index type: with_index_type(type, [](auto zero) {…}).
template <class F>
auto with_index_type(DType type, F f) {
  switch (type.kind()) {
    case Kind::kInt8: return f(int8_t{});
    case Kind::kInt16: return f(int16_t{});
    case Kind::kInt32: return f(int32_t{});
    case Kind::kUInt8: return f(uint8_t{});
    case Kind::kUInt16: return f(uint16_t{});
    case Kind::kUInt32: return f(uint32_t{});
    case Kind::kUInt64: return f(uint64_t{});
    case Kind::kInt64:
    case Kind::kBool:  // validation lets only integers pass
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kFloat16:
    case Kind::kBFloat16:
    case Kind::kFloat32:
    case Kind::kFloat64:
    case Kind::kComplex64:
    case Kind::kComplex128:
    case Kind::kInt4:
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2:
    case Kind::kOpaque: break;
  }
  return f(int64_t{});
}

}  // namespace sheaf
