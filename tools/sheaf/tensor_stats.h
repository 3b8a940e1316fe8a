// SPDX-License-Identifier: MIT
//
// What there is to say about the values of a tensor.
#pragma once

#include "sheaf/sheaf.h"

namespace sheaf::cli {

struct TensorStats {
  int64_t count = 0, nans = 0;
  double min = 0, max = 0, mean = 0;  // of what is not NaN; 0 if there is nothing else
};

// Reads the tensor once, in pieces where its storage allows it. Complex and opaque elements are
// refused: they have no order.
TensorStats stats_of(const Table& table);

// A number as double: the nearest, for 64-bit integers.
double element_value(DType type, const std::byte* element);

}  // namespace sheaf::cli
