// SPDX-License-Identifier: MIT
//
// Choosing from shared memory: indices as 32-bit entries, and
// outputs put together from entries.
#pragma once

#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {

inline constexpr uint32_t kFilled = UINT32_MAX;

// entry_of() in 32 bits: what fits into shared memory has fewer entries.
__device__ inline uint32_t staged_entry(const AnyNest& nest, int64_t raw) {
  const auto extent = static_cast<uint32_t>(nest.coordinates[0].extent);
  const auto low = static_cast<int32_t>(raw);
  const bool from_end =
      low < 0 && nest.negative == Negative::kFromEnd && nest.index_kind != Kind::kUInt64;
  const uint32_t at = static_cast<uint32_t>(low) + (from_end ? extent : 0);
  if (raw == low && at < extent) {
    return at;
  }
  const int64_t entry = entry_of(nest, raw, extent);
  return entry == kOutside ? kFilled : static_cast<uint32_t>(entry);
}

// kTogether neighbouring indices, read by one instruction where there are several.
template <Indices kIndices, int kTogether>
struct RawIndices {
  using Raw = std::conditional_t<kIndices == Indices::kInt32, int32_t, long long>;
  Raw raw[kTogether];

  __device__ void load(Kind kind, const std::byte* indices, int64_t element) {
    if constexpr (kIndices == Indices::kBits64 && kTogether == 2) {
      const auto two = load_once<longlong2>(indices + element * 8);
      raw[0] = two.x;
      raw[1] = two.y;
    } else if constexpr (kIndices == Indices::kInt32 && kTogether == 4) {
      const auto four = load_once<int4>(indices + element * 4);
      raw[0] = four.x;
      raw[1] = four.y;
      raw[2] = four.z;
      raw[3] = four.w;
    } else if constexpr (kIndices == Indices::kInt32 && kTogether == 2) {
      const auto two = load_once<int2>(indices + element * 4);
      raw[0] = two.x;
      raw[1] = two.y;
    } else {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        raw[i] = static_cast<Raw>(load_raw<kIndices>(kind, indices, element + i));
      }
    }
  }

  __device__ void resolve(const AnyNest& nest, uint32_t (&entries)[kTogether]) const {
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      entries[i] = staged_entry(nest, raw[i]);
    }
  }
};

template <class T, int kTogether>
struct alignas(sizeof(T) * kTogether) Together {
  T values[kTogether];
};

// kTogether neighbouring outputs, written by one instruction.
template <int kBytes, int kTogether>
__device__ void write_outputs(const AnyNest& nest, const std::byte* row,
                              const uint32_t (&entries)[kTogether], std::byte* to) {
  union {
    Together<Word<kBytes>, kTogether> outputs;
    Word<kBytes * kTogether> word;
  } chosen;
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
    chosen.outputs.values[i] =
        entries[i] != kFilled ? *reinterpret_cast<const Word<kBytes>*>(row + entries[i] * kBytes)
                              : fill_word<kBytes>(nest, 0);
  }
  store_streaming(to, chosen.word);
}

// How many indices, and outputs of kBytes, one instruction reads and writes at most.
template <int kBytes, Indices kIndices>
inline constexpr int kMostTogether = kIndices == Indices::kAnyType  ? 1
                                     : kIndices == Indices::kBits64 ? (kBytes == 16 ? 1 : 2)
                                     : kBytes <= 4                  ? 4
                                                                    : 16 / kBytes;

// The widest access, up to `most` bytes, that a pointer and steps from it allow.
inline int common_alignment(const void* memory, std::initializer_list<int64_t> steps, int most) {
  auto bits =
      static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory)) | static_cast<uint64_t>(most);
  for (const int64_t step : steps) {
    bits |= static_cast<uint64_t>(step);
  }
  return 1 << std::countr_zero(bits);
}

}  // namespace sheaf::cuda
