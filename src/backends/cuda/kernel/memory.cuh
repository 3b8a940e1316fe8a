// SPDX-License-Identifier: MIT
//
// Words of 1 to 16 bytes, each moved by one instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sheaf::cuda {

template <int kBytes>
using Word = std::conditional_t<
    kBytes == 16, uint4,
    std::conditional_t<kBytes == 8, uint2,
                       std::conditional_t<kBytes == 4, uint32_t,
                                          std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>>;

template <class T>
__device__ T load(const std::byte* memory) {
  return __ldg(reinterpret_cast<const T*>(memory));
}

// A streaming load, of what is read once.
template <class T>
__device__ T load_once(const std::byte* memory) {
  return __ldcs(reinterpret_cast<const T*>(memory));
}

// A streaming store: the cache is left to reads.
template <class T>
__device__ void store_streaming(std::byte* memory, T value) {
  __stcs(reinterpret_cast<T*>(memory), value);
}

// Neighbouring elements that are moved at once.
template <class T, int kCount>
struct alignas(kCount == 1 ? alignof(T) : sizeof(T) * kCount) Elements {
  T values[kCount];
};

// Prefetches the line of an address into L2.
__device__ inline void prefetch(const std::byte* memory) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(memory));
}

// Calls f(std::integral_constant<int, bytes>) for a word of 1, 2, 4, 8 or 16 bytes.
template <class F>
constexpr void with_word_bytes(int bytes, F f) {
  switch (bytes) {
    case 16: return f(std::integral_constant<int, 16>{});
    case 8: return f(std::integral_constant<int, 8>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 2: return f(std::integral_constant<int, 2>{});
    default: return f(std::integral_constant<int, 1>{});
  }
}

}  // namespace sheaf::cuda
