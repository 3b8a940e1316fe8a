// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce.cuh"

namespace sheaf::cuda {

void reduce_integers(const ScatterNest& scatter, const ScatterCall& call,
                     const SortedTuples& sorted, bool together) {
  switch (scatter.tuples.element_type.kind()) {
    case Kind::kBool: return launch_reduce_of<Truth, 1>(scatter, call, sorted);
    case Kind::kInt8: return launch_reduce_of<int8_t, 1>(scatter, call, sorted);
    case Kind::kUInt8: return launch_reduce_of<uint8_t, 1>(scatter, call, sorted);
    case Kind::kInt16: return launch_reduce_of<int16_t, 1>(scatter, call, sorted);
    case Kind::kUInt16: return launch_reduce_of<uint16_t, 1>(scatter, call, sorted);
    case Kind::kUInt32: return launch_reduce_of<uint32_t, 1>(scatter, call, sorted);
    case Kind::kUInt64: return launch_reduce_of<uint64_t, 1>(scatter, call, sorted);
    case Kind::kInt64: return launch_reduce_of<int64_t, 1>(scatter, call, sorted);
    default:
      return together ? launch_reduce_of<int32_t, 4>(scatter, call, sorted)
                      : launch_reduce_of<int32_t, 1>(scatter, call, sorted);
  }
}

}  // namespace sheaf::cuda
