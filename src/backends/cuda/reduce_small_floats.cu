// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce.cuh"

namespace sheaf::cuda {

void reduce_small_floats(const ScatterNest& scatter, const ScatterCall& call,
                         const SortedTuples& sorted, bool together) {
  switch (scatter.tuples.element_type.kind()) {
    case Kind::kFloat16:
      return together ? launch_reduce_of<float16, 8>(scatter, call, sorted)
                      : launch_reduce_of<float16, 1>(scatter, call, sorted);
    case Kind::kBFloat16:
      return together ? launch_reduce_of<bfloat16, 8>(scatter, call, sorted)
                      : launch_reduce_of<bfloat16, 1>(scatter, call, sorted);
    case Kind::kFloat8E4M3: return launch_reduce_of<float8_e4m3, 1>(scatter, call, sorted);
    default: return launch_reduce_of<float8_e5m2, 1>(scatter, call, sorted);
  }
}

}  // namespace sheaf::cuda
