// SPDX-License-Identifier: MIT
//
// The processor's floating-point mode. A caller may have asked for subnormal numbers to be flushed
// to zero, or for another rounding; sums must have the same bits regardless.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sheaf {

// Rounds to nearest and keeps subnormals while it lives; then the caller's mode is back.
class DefaultFloatMode {
 public:
  DefaultFloatMode() : saved_(read()) {
    if ((saved_ & kMode) != 0) {
      write(saved_ & ~kMode);
    }
  }
  ~DefaultFloatMode() {
    if ((saved_ & kMode) != 0) {
      write(saved_);
    }
  }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

#if defined(__x86_64__)
  static constexpr uint64_t kFlush = 0x8040;          // FTZ and DAZ of MXCSR
  static constexpr uint64_t kMode = kFlush | 0x6000;  // and the rounding
  static uint64_t read() { return _mm_getcsr(); }
  static void write(uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = (1U << 24U) | (1U << 19U);  // FZ and FZ16 of FPCR
  // And the rounding, default NaN, and f16 without infinities.
  static constexpr uint64_t kMode = kFlush | (3U << 22U) | (1U << 25U) | (1U << 26U);
  static uint64_t read() {
    uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode) : "memory"); }
#else  // WebAssembly has one mode only
  static constexpr uint64_t kFlush = 0, kMode = 0;
  static uint64_t read() { return 0; }
  static void write(uint64_t /*mode*/) {}
#endif

 private:
  uint64_t saved_;
};

}  // namespace sheaf
