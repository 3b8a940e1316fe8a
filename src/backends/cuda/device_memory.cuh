// SPDX-License-Identifier: MIT
//
// Reading and writing on the device: words of 1 to 16 bytes, and indices of any type.
#pragma once

#include <cuda_runtime.h>

#include "backends/cuda/nest.h"
#include "backends/cuda/verdict.h"

namespace sheaf::cuda {

// A word is moved by one instruction.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <int kBytes>
using Word = typename WordOf<kBytes>::Type;

template <class T>
__device__ T load(const std::byte* memory) {
  return __ldg(reinterpret_cast<const T*>(memory));
}

// Reads what no one will ask for again.
template <class T>
__device__ T load_once(const std::byte* memory) {
  return __ldcs(reinterpret_cast<const T*>(memory));
}

// Writes around the cache, which is left to what is read.
template <class T>
__device__ void store_streaming(std::byte* memory, T value) {
  __stcs(reinterpret_cast<T*>(memory), value);
}

// How a kernel reads indices: of 4 or 8 bytes, or by a look at the type each time.
enum class Indices { kInt32, kBits64, kAnyType };

inline Indices indices_of(Kind kind) {
  switch (kind) {
    case Kind::kInt32: return Indices::kInt32;
    case Kind::kInt64:
    case Kind::kUInt64: return Indices::kBits64;
    default: return Indices::kAnyType;
  }
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
      default: return load<long long>(indices + element * 8);
    }
  }
}

// The same for indices that are read but once.
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

// Off the way of the other rules: a division.
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
    default: return kOutside;
  }
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

// The data offsets that kCount tuples of indices lead to, from at[i] on, all indices asked for
// before the first is looked at. kNowhere where the rule gives no entry; what is kNowhere stays so.
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

// Whether the check found a bad index. Null: there was none to make.
__device__ inline bool refused(const Verdict* verdict) {
  return verdict != nullptr &&
         *reinterpret_cast<const volatile unsigned long long*>(&verdict->bad) != 0;
}

// The word of a row that is filled: bytes of fill_value, over and over from the row's start.
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

}  // namespace sheaf::cuda
