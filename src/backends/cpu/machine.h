// SPDX-License-Identifier: MIT
//
// The cache sizes that tiles are cut by. Read once; sensible guesses where the system does not say.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/tuning.h"
#include "support/bit_cast.h"

namespace sheaf::cpu {

// Prefetches the line at `address`, valid or not, into the first or the second level. The address
// is computed first: a Neoverse V1 takes 1.5 times as long over a prefetch whose operand adds a
// scaled register.
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

// Prefetches the line `offset` bytes past `at`, valid or not.
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

struct Caches {
  int64_t l2;    // of one core
  int64_t last;  // shared
};
Caches read_caches();

// Inline: small calls look at it, too.
inline const Caches& caches() {
  static const Caches sizes = read_caches();
  return sizes;
}

}  // namespace sheaf::cpu
