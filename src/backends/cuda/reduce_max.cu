// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_chained.cuh"
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_private.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_max(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kMax>(scatter, call, sorted);
}

void chained_max(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  launch_chained<Reduction::kMax>(scatter, call, chains);
}

void private_max(const PrivateCall& call) { launch_private<Reduction::kMax>(call); }

void shared_max(const SharedCall& call) { launch_shared<Reduction::kMax>(call); }

}  // namespace sheaf::cuda
