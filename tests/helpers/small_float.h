// SPDX-License-Identifier: MIT
//
// Floats of 8 and 16 bits by a table of all their values: no bits are shifted to round a number,
// the nearest is looked up.
#pragma once

#include <cstdint>
#include <vector>

#include "sheaf/dtype.h"

namespace oracle {

class SmallFloat {
 public:
  // Of one of the four types; made once each.
  static const SmallFloat& of(sheaf::DType type);

  long double value(uint32_t bits) const { return values_[bits]; }
  bool is_nan(uint32_t bits) const { return values_[bits] != values_[bits]; }

  // The nearest value; halfway between two, the one whose pattern is even. Above the largest:
  // infinity, or NaN where there is none. NaN is always the same.
  uint32_t nearest(long double value) const;
  uint32_t nan() const { return nan_; }

  // What min and max start from.
  uint32_t highest() const { return highest_; }

 private:
  SmallFloat(int exponent_bits, int mantissa_bits, bool has_infinity);

  std::vector<long double> values_;  // by pattern, both signs
  uint32_t sign_, highest_, nan_;    // highest: infinity, or the largest number
  long double beyond_;               // from here on a number is too large
};

}  // namespace oracle
