// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce.cuh"

namespace sheaf::cuda {

void reduce_floats(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   bool together) {
  switch (scatter.tuples.element_type.kind()) {
    case Kind::kFloat32:
      return together ? launch_reduce_of<float, 4>(scatter, call, sorted)
                      : launch_reduce_of<float, 1>(scatter, call, sorted);
    case Kind::kFloat64:
      return together ? launch_reduce_of<double, 2>(scatter, call, sorted)
                      : launch_reduce_of<double, 1>(scatter, call, sorted);
    case Kind::kComplex64: return launch_reduce_of<std::complex<float>, 1>(scatter, call, sorted);
    default: return launch_reduce_of<std::complex<double>, 1>(scatter, call, sorted);
  }
}

}  // namespace sheaf::cuda
