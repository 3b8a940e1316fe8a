// SPDX-License-Identifier: MIT
#include "plan/index_order.h"

#include <algorithm>

#include "plan/lower.h"
#include "support/checked.h"

namespace sheaf {

IndexOrder index_order(const Plan& plan) {
  const TensorSpec& spec = plan.indices();
  const int tuple = tuple_dim(plan.request());
  IndexOrder order{plan.nest(), 1, 1, 1, tuple >= 0 ? spec.sizes[tuple] : 1};
  Fixed<Loop>& loops = order.nest.loops;
  loops.clear();
  int64_t below = element_count(spec.sizes);  // elements of a step along the dimension
  for (int d = 0; d < spec.rank(); ++d) {
    const int64_t size = spec.sizes[d];
    below /= std::max<int64_t>(size, 1);
    if (size == 1) {
      continue;
    }
    const int64_t stride = spec.strides[d];
    if (stride == 0 && size > 0 && d != tuple) {
      order.repeats *= size;
      continue;
    }
    order.count *= size;
    order.inner = tuple >= 0 && d > tuple ? order.inner * size : 1;
    Loop* const outer = loops.empty() ? nullptr : &loops.back();
    if (outer != nullptr && checked_mul(stride, size) == outer->index &&
        below * size == outer->output) {
      *outer = {outer->extent * size, 0, stride, below, 0};
    } else {
      loops.push_back({size, 0, stride, below, 0});
    }
  }
  return order;
}

}  // namespace sheaf
