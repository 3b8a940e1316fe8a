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

// Reads what is not needed again.
template <class T>
__device__ T load_once(const std::byte* memory) {
  return __ldcs(reinterpret_cast<const T*>(memory));
}

// Writes around the cache, which is left to reads.
template <class T>
__device__ void store_streaming(std::byte* memory, T value) {
  __stcs(reinterpret_cast<T*>(memory), value);
}

inline constexpr int kLineBytes = 128;

// Asks for the line of an address to be brought to L2. Changes nothing else.
__device__ inline void prefetch(const std::byte* memory) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(memory));
}

// Calls f(std::integral_constant<int, bytes>) for a word of 1, 2, 4, 8 or 16 bytes.
template <class F>
void with_word_bytes(int bytes, F f) {
  switch (bytes) {
    case 16: return f(std::integral_constant<int, 16>{});
    case 8: return f(std::integral_constant<int, 8>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 2: return f(std::integral_constant<int, 2>{});
    default: return f(std::integral_constant<int, 1>{});
  }
}

}  // namespace sheaf::cuda
