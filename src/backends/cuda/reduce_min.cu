// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_min(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kMin>(scatter, call, sorted);
}

void shared_min(const SharedCall& call) { launch_shared<Reduction::kMin>(call); }

}  // namespace sheaf::cuda
