// SPDX-License-Identifier: MIT
//
// How a scatter combines an update with the element that is there.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace sheaf {

// Updates to one element are applied one after the other, in row-major order of the updates:
// the same bits on every backend and from any number of threads. Integers wrap on overflow. On
// bool, add and max are or, mul and min are and, sub is xor. A result that is not a number is
// always the same positive quiet NaN; min and max return it as soon as one of the two is not a
// number.
enum class Reduction : uint8_t {
  kNone,  // the update replaces it: the last one wins
  kAdd,
  kSub,
  kMul,
  kMin,
  kMax,
  kMean,  // the sum over the number of summands; integers are rounded down
};

std::string_view to_string(Reduction reduction);  // "none", "add", "sub", …

}  // namespace sheaf

#pragma GCC visibility pop
