// SPDX-License-Identifier: MIT
//
// The cache sizes that tiles are cut by. Read once; sensible guesses where the system does not say.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bit_cast.h"

namespace sheaf::cpu {

inline constexpr int64_t kLine = 64;  // bytes that a processor fetches at once

// Stores that write around the cache. Only x86 has some that matter: arm64 processors notice by
// themselves that whole lines are written one after the other.
#if defined(__x86_64__) || defined(_M_X64)
inline constexpr bool kStreamingStores = true;
#else
inline constexpr bool kStreamingStores = false;
#endif

// Rows that are streamed straight from indices are of whole pieces of this many bytes.
inline constexpr int64_t kStreamPiece = 16;

#if defined(__aarch64__) || defined(_M_ARM64)
inline constexpr bool kArm64 = true;
#else
inline constexpr bool kArm64 = false;
#endif

// Whether columns are reduced faster by blocks of offsets than index by index. Measured: on x86 by
// 5 to 12 %, while a Neoverse V1 takes 1.4 times as long.
inline constexpr bool kOffsetsForColumns = kStreamingStores;

// Whether wide rows from far away are copied in turn. Measured on a Neoverse V1: rows of 1 and 4
// KiB in 0.5 and 0.6 of the time.
inline constexpr bool kRowsInTurn = !kStreamingStores;

// Prefetches the line at `address`, which may be any, into the first level or into the second. The
// address is computed first: a Neoverse V1 takes half as long again over a prefetch whose operand
// adds a scaled register.
template <int kLevel = 1>
inline void prefetch_line(const void* address) {
#if defined(__aarch64__) && defined(__GNUC__)
  asm("" : "+r"(address));
#endif
  __builtin_prefetch(address, 0, 4 - kLevel);
}

// The same for rows of kBytes. g++ 12 drops __builtin_prefetch() out of some loops. Rows of more
// than half a line need it, so they get an instruction that is kept; of shorter ones many are in
// cache, and that would cost 1.1 times.
template <int kLevel, int64_t kBytes>
inline void prefetch_row(const void* address) {
#if defined(__GNUC__) && (defined(__aarch64__) || (defined(__x86_64__) && !defined(__clang__)))
  if constexpr (kBytes >= kLine) {
#if defined(__aarch64__)
    if constexpr (kLevel == 1) {
      asm volatile("prfm pldl1keep, [%0]" : : "r"(address));
    } else {
      asm volatile("prfm pldl2keep, [%0]" : : "r"(address));
    }
#else
    if constexpr (kLevel == 1) {
      asm volatile("prefetcht0 %a0" : : "p"(address));
    } else {
      asm volatile("prefetcht1 %a0" : : "p"(address));
    }
#endif
    return;
  }
#endif
  prefetch_line<kLevel>(address);
}

// How many bytes ahead a long sequence is prefetched into the second level. A Neoverse V1 looks no
// more than 4 KiB ahead by itself: this way it reads indices from the last level in 0.85 of the
// time, and from memory in 0.8. A Xeon stops at the end of each page of 4 KiB: indices from memory
// in 0.75 of the time; further ahead is no better.
inline constexpr int64_t kSequenceAhead = kArm64 ? int64_t{16} << 10 : int64_t{4} << 10;

// Prefetches the line `offset` bytes past `at`, which may be anywhere.
template <int kLevel>
inline void prefetch_ahead(const std::byte* at, int64_t offset) {
  prefetch_row<kLevel, kLine>(
      bit_cast<const std::byte*>(reinterpret_cast<uintptr_t>(at) + static_cast<uintptr_t>(offset)));
}

// The same for a line that is going to be written.
inline void prefetch_to_write(const std::byte* at, int64_t offset) {
  const auto* address =
      bit_cast<const std::byte*>(reinterpret_cast<uintptr_t>(at) + static_cast<uintptr_t>(offset));
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__clang__)
  asm volatile("prefetchw %a0" : : "p"(address));
#else
  __builtin_prefetch(address, 1);
#endif
}

// How many bytes ahead an output is prefetched that goes through the cache. A Xeon has too few
// store buffers to wait for each of its lines; arm64 processors write whole lines without reading
// them first.
inline constexpr int64_t kOutputAhead = kStreamingStores ? 1024 : 0;

// A row of data that indices jump about in is brought into the first-level cache, ahead of its use,
// up to this size.
inline constexpr int64_t kNearData = int64_t{64} << 10;

struct Caches {
  int64_t l2;    // of one core
  int64_t last;  // shared
};
const Caches& caches();

}  // namespace sheaf::cpu
