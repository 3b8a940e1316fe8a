// SPDX-License-Identifier: MIT
#include "example_indices.h"

#include <algorithm>

#include "plan/lower.h"
#include "plan/scalar.h"

namespace sheaf::cli {

std::optional<Literal> example_indices(const Plan& plan, int64_t max_elements) {
  const Request& r = plan.request();
  for (const TensorSpec* spec : {&r.data, &r.indices, &r.grid()}) {
    if (element_count(spec->sizes) > max_elements) {
      return std::nullopt;
    }
  }
  const int dim = tuple_dim(r);
  const int64_t count = element_count(r.indices.sizes);
  const int64_t step = dim < 0 ? 1 : contiguous_strides(r.indices.sizes)[dim];
  const int64_t tuple = dim < 0 ? 1 : r.indices.sizes[dim];
  const auto bytes = static_cast<size_t>(r.indices.dtype.bytes());
  Literal indices(static_cast<size_t>(count) * bytes);
  for (int64_t e = 0; e < count; ++e) {
    const int component = static_cast<int>(e / step % tuple);
    const int64_t extent =
        r.data.sizes[coordinate_axis(r, component)] - coordinate_window(r, component) + 1;
    if (extent <= 0) {
      return std::nullopt;  // an axis without entries, whose updates are skipped
    }
    // Looks irregular, repeats some entries, and is the same every time. Every index type holds
    // values below 128.
    const int64_t value = (e * 5 + e / 3 + 1 + component) % std::min(extent, kMaxExampleElements);
    encode(value, r.indices.dtype, indices.data() + static_cast<size_t>(e) * bytes);
  }
  return indices;
}

}  // namespace sheaf::cli
