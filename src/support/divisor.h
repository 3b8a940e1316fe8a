// SPDX-License-Identifier: MIT
//
// Division by a number that is known before a kernel starts: a product and a shift.
#pragma once

#include <bit>
#include <cstdint>

namespace sheaf {

// Exact for 0 <= n < 2^31 and divisors up to 2^31.
struct Divisor {
  uint32_t divisor = 1;
  uint32_t magic = uint32_t{1} << 31;  // 2^(31 + shift) / divisor, rounded up
  uint32_t shift = 0;

  Divisor() = default;
  constexpr explicit Divisor(uint32_t d) : divisor(d) {
    shift = static_cast<uint32_t>(std::bit_width(d - 1));
    magic = static_cast<uint32_t>(((uint64_t{1} << (31 + shift)) + d - 1) / d);
  }

  constexpr uint32_t quotient(uint32_t n) const {
    return static_cast<uint32_t>((uint64_t{n} * magic) >> (31 + shift));
  }
};

// The same for 0 <= n < 2^63.
struct WideDivisor {
  uint64_t divisor = 1;
  uint64_t magic = uint64_t{1} << 63;  // 2^(63 + shift) / divisor, rounded up
  uint32_t shift = 0;

  __extension__ using Wide = unsigned __int128;

  WideDivisor() = default;
  constexpr explicit WideDivisor(uint64_t d) : divisor(d) {
    shift = static_cast<uint32_t>(std::bit_width(d - 1));
    magic = static_cast<uint64_t>(((Wide{1} << (63 + shift)) + d - 1) / d);
  }

  constexpr uint64_t quotient(uint64_t n) const {
    return static_cast<uint64_t>((Wide{n} * magic) >> 63) >> shift;
  }
};

}  // namespace sheaf
