// SPDX-License-Identifier: MIT
//
// Numbers of any element type, as one of three: signed and unsigned integers of 64 bits, and
// doubles. Every type is one of them exactly, so a conversion is a load and a store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sheaf/dtype.h"

namespace sheaf::moves {

enum class Wide : uint8_t { kSigned, kUnsigned, kDouble };

union WideNumber {
  int64_t signed_integer;
  uint64_t unsigned_integer;
  double number;
};

// How many elements one call takes; a block of them stays in the first-level cache.
inline constexpr int64_t kBlock = 512;

// What a load, a change and a store of one element cost, as bytes moved.
inline constexpr int64_t kElementCost = 16;

// False for complex and opaque elements, which are no numbers here.
bool is_number(DType type);
Wide wide_of(DType type);

// Elements at `from`, `step` bytes apart, into `to`[0, count).
void load(DType type, const std::byte* from, int64_t step, int64_t count, WideNumber* to);

// The reverse. Rounds and saturates as sheaf::cast says.
void store(DType type, Wide wide, const WideNumber* from, std::byte* to, int64_t step,
           int64_t count);

// One element, by another way: in integers and by comparing, for the tests.
void convert_reference(DType from_type, const std::byte* from, DType to_type, std::byte* to);

}  // namespace sheaf::moves
