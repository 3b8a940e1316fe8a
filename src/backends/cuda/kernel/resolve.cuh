// SPDX-License-Identifier: MIT
//
// The index rule on the device: reading indices of any type, the entries they name (plan/resolve.h
// is the definition), the offsets that tuples of them lead to, and what happens to those that name
// no entry.
#pragma once

#include "backends/cuda/kernel/memory.cuh"
#include "backends/cuda/kernel/nest.h"
#include "execution/backend.h"

namespace sheaf::cuda {

// How a kernel reads indices: of 4 or 8 bytes, or of a type that is looked up for each of them.
enum class Indices { kInt32, kBits64, kAnyType };

inline Indices indices_of(Kind kind) {
  return kind == Kind::kInt32                            ? Indices::kInt32
         : kind == Kind::kInt64 || kind == Kind::kUInt64 ? Indices::kBits64
                                                         : Indices::kAnyType;
}

// Calls f(std::integral_constant<Indices, …>).
template <class F>
constexpr void with_indices(Indices indices, F f) {
  switch (indices) {
    case Indices::kInt32: return f(std::integral_constant<Indices, Indices::kInt32>{});
    case Indices::kBits64: return f(std::integral_constant<Indices, Indices::kBits64>{});
    case Indices::kAnyType: return f(std::integral_constant<Indices, Indices::kAnyType>{});
  }
}
template <class F>
void with_indices(Kind kind, F f) {
  with_indices(indices_of(kind), f);
}

template <Indices kIndices>
__device__ int64_t load_raw(Kind kind, const std::byte* indices, int64_t element) {
  if constexpr (kIndices == Indices::kInt32) {
    return load<int32_t>(indices + element * 4);
  } else if constexpr (kIndices == Indices::kBits64) {
    return load<long long>(indices + element * 8);
  } else {
    switch (kind) {
      case Kind::kInt8: return load<signed char>(indices + element);
      case Kind::kUInt8: return load<unsigned char>(indices + element);
      case Kind::kInt16: return load<int16_t>(indices + element * 2);
      case Kind::kUInt16: return load<uint16_t>(indices + element * 2);
      case Kind::kInt32: return load<int32_t>(indices + element * 4);
      case Kind::kUInt32: return load<uint32_t>(indices + element * 4);
      case Kind::kInt64:
      case Kind::kUInt64: return load<long long>(indices + element * 8);
      case Kind::kBool:
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
      case Kind::kOpaque: break;  // validation lets none of them pass as indices
    }
    return 0;
  }
}

// The same for indices that are read once.
template <Indices kIndices>
__device__ int64_t load_raw_once(Kind kind, const std::byte* indices, int64_t element) {
  if constexpr (kIndices == Indices::kInt32) {
    return load_once<int32_t>(indices + element * 4);
  } else if constexpr (kIndices == Indices::kBits64) {
    return load_once<long long>(indices + element * 8);
  } else {
    return load_raw<kIndices>(kind, indices, element);
  }
}

// Not inlined: its division would cost the other rules registers.
__device__ __noinline__ inline int64_t wrapped(int64_t raw, int64_t extent, bool is_u64) {
  return is_u64
             ? resolve(static_cast<uint64_t>(raw), extent, Negative::kOutOfRange, OutOfRange::kWrap)
             : resolve(raw, extent, Negative::kOutOfRange, OutOfRange::kWrap);
}

// plan/resolve.h's resolve() for an index read by load_raw.
template <class DeviceNest>
__device__ int64_t entry_of(const DeviceNest& nest, int64_t raw, int64_t extent) {
  const bool is_u64 = nest.index_kind == Kind::kUInt64;
  const bool below = raw < 0 && !is_u64;
  const int64_t at = below && nest.negative == Negative::kFromEnd ? raw + extent : raw;
  if (static_cast<uint64_t>(at) < static_cast<uint64_t>(extent)) {
    return at;
  }
  switch (nest.out_of_range) {
    case OutOfRange::kClamp: return below ? 0 : extent - 1;
    case OutOfRange::kWrap: return wrapped(raw, extent, is_u64);
    case OutOfRange::kTrust: return raw;
    case OutOfRange::kFail:
    case OutOfRange::kFill:
    case OutOfRange::kSkip: break;
  }
  return kOutside;
}

inline constexpr uint32_t kNarrowOutside = UINT32_MAX;

// entry_of() in 32 bits, for extents below 2^31.
template <class DeviceNest>
__device__ uint32_t narrow_entry_of(const DeviceNest& nest, int64_t raw, uint32_t extent) {
  const auto low = static_cast<int32_t>(raw);
  const bool from_end =
      low < 0 && nest.negative == Negative::kFromEnd && nest.index_kind != Kind::kUInt64;
  const uint32_t at = static_cast<uint32_t>(low) + (from_end ? extent : 0);
  if (raw == low && at < extent) {
    return at;
  }
  const int64_t entry = entry_of(nest, raw, extent);
  return entry == kOutside ? kNarrowOutside : static_cast<uint32_t>(entry);
}

inline constexpr int64_t kNowhere = INT64_MIN;

// resolve_tuples() where the two indices of a tuple are one aligned read.
template <class DeviceNest, int kCount>
__device__ void resolve_pairs(const DeviceNest& nest, const std::byte* indices,
                              const int64_t (&tuple)[kCount], int64_t (&at)[kCount]) {
  longlong2 raw[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (at[i] != kNowhere) {
      raw[i] = load<longlong2>(indices + tuple[i] * 8);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (at[i] != kNowhere) {
      const int64_t first = entry_of(nest, raw[i].x, nest.coordinates[0].extent);
      const int64_t second = entry_of(nest, raw[i].y, nest.coordinates[1].extent);
      at[i] = first == kOutside || second == kOutside ? kNowhere
                                                      : at[i] + first * nest.coordinates[0].stride +
                                                            second * nest.coordinates[1].stride;
    }
  }
}

// The data offsets that kCount tuples of indices lead to, from at[i] on: all indices are read
// before the first is resolved. kNowhere where the rule gives no entry; what is kNowhere stays so.
template <Indices kIndices, class DeviceNest, int kCount>
__device__ void resolve_tuples(const DeviceNest& nest, const std::byte* indices,
                               const int64_t (&tuple)[kCount], int64_t (&at)[kCount]) {
  if constexpr (std::is_same_v<DeviceNest, NestOf<1, 2>> && kIndices == Indices::kBits64) {
    if (nest.pairs) {
      resolve_pairs(nest, indices, tuple, at);
      return;
    }
  }
  for (int c = 0; c < nest.coordinate_count(); ++c) {
    const DeviceCoordinate& coordinate = nest.coordinates[c];
    int64_t raw[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      raw[i] = at[i] != kNowhere
                   ? load_raw<kIndices>(nest.index_kind, indices, tuple[i] + coordinate.offset)
                   : 0;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int64_t entry = entry_of(nest, raw[i], coordinate.extent);
      at[i] = entry == kOutside || at[i] == kNowhere ? kNowhere : at[i] + entry * coordinate.stride;
    }
  }
}

// The entry of a scatter's window `window` places beyond its index.
__device__ inline int64_t window_entry(const AnyNest& nest, int64_t raw, int64_t window,
                                       int64_t extent) {
  return nest.index_kind == Kind::kUInt64
             ? in_range_or_outside(static_cast<uint64_t>(raw), window, extent, nest.negative)
             : in_range_or_outside(raw, window, extent, nest.negative);
}

// The data offset of a point, or kNowhere if it is skipped. `place` is that of the point.
__device__ inline int64_t target_of(const AnyNest& nest, const std::byte* indices, int64_t point,
                                    const Place& place) {
  int64_t at = place.data;
  for (int c = 0; c < nest.any_coordinates; ++c) {
    const DeviceCoordinate& coordinate = nest.coordinates[c];
    const int64_t raw =
        load_raw<Indices::kAnyType>(nest.index_kind, indices, place.index + coordinate.offset);
    const int64_t window = coordinate.window_inner == 0
                               ? 0
                               : point / coordinate.window_inner % coordinate.window_extent;
    const int64_t entry = window != 0 ? window_entry(nest, raw, window, coordinate.extent)
                                      : entry_of(nest, raw, coordinate.extent);
    if (entry == kOutside) {
      return kNowhere;
    }
    at += entry * coordinate.stride;
  }
  return at;
}

// Whether a check that ran before found a bad index. Null: there was none.
__device__ inline bool refused(const Verdict* verdict) {
  return verdict != nullptr &&
         *reinterpret_cast<const volatile unsigned long long*>(&verdict->bad) != 0;
}

// A word of a filled row: the bytes of fill_value, repeated from the row's start.
template <int kBytes>
__device__ __noinline__ Word<kBytes> fill_word(const std::byte* fill_value, int64_t element_bytes,
                                               int64_t row_offset) {
  union {
    Word<kBytes> word;
    std::byte bytes[kBytes];
  } filled;
  auto at = static_cast<uint32_t>(row_offset % element_bytes);
  for (std::byte& byte : filled.bytes) {
    byte = fill_value[at];
    at = at + 1 == element_bytes ? 0 : at + 1;
  }
  return filled.word;
}

template <int kBytes, class DeviceNest>
__device__ Word<kBytes> fill_word(const DeviceNest& nest, int64_t row_offset) {
  return fill_word<kBytes>(nest.fill_value, nest.element_bytes, row_offset);
}

// The word of a row whose index names no entry. `report` is not null under kFail: then the run has
// failed, and the word is never read.
template <int kBytes, class DeviceNest>
__device__ Word<kBytes> outside_word(const DeviceNest& nest, Verdict* report, int64_t row_offset) {
  if (report != nullptr) {
    report->met = 1;
  }
  return fill_word<kBytes>(nest, row_offset);
}

}  // namespace sheaf::cuda
