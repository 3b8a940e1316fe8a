// SPDX-License-Identifier: MIT
//
// The indices of a plan in row-major order of their tensor, each to be compared with the extent of
// its coordinate: what a device's check walks, so that "the first bad index" means the same
// everywhere.
#pragma once

#include "sheaf/plan.h"

namespace sheaf {

struct IndexOrder {
  // `index` strides, and as `output` the elements of the tensor that was passed; rule and
  // coordinates are those of the plan. Dimensions with a stride of 0 repeat their indices, which
  // are checked once.
  Nest nest;
  int64_t count;       // to be checked
  int64_t repeats;     // of each in the tensor
  int64_t inner;       // the components of a tuple are this many elements apart
  int64_t components;  // of a tuple
};
IndexOrder index_order(const Plan& plan);

}  // namespace sheaf
