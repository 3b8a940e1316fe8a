// SPDX-License-Identifier: MIT
#include "backends/cuda/join.cuh"
#include "backends/cuda/join.h"

namespace sheaf::cuda {

void join_integers(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   bool together) {
  switch (scatter.tuples.element_type.kind()) {
    case Kind::kBool: return launch_join_of<Truth, 1>(scatter, call, sorted);
    case Kind::kInt8: return launch_join_of<int8_t, 1>(scatter, call, sorted);
    case Kind::kUInt8: return launch_join_of<uint8_t, 1>(scatter, call, sorted);
    case Kind::kInt16: return launch_join_of<int16_t, 1>(scatter, call, sorted);
    case Kind::kUInt16: return launch_join_of<uint16_t, 1>(scatter, call, sorted);
    case Kind::kUInt32: return launch_join_of<uint32_t, 1>(scatter, call, sorted);
    case Kind::kUInt64: return launch_join_of<uint64_t, 1>(scatter, call, sorted);
    case Kind::kInt64: return launch_join_of<int64_t, 1>(scatter, call, sorted);
    default:
      return together ? launch_join_of<int32_t, 4>(scatter, call, sorted)
                      : launch_join_of<int32_t, 1>(scatter, call, sorted);
  }
}

}  // namespace sheaf::cuda
