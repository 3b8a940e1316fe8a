// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_chained.cuh"
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_private.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_min(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kMin>(scatter, call, sorted);
}

void chained_min(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  launch_chained<Reduction::kMin>(scatter, call, chains);
}

void private_min(const PrivateCall& call) { launch_private<Reduction::kMin>(call); }

void shared_min(const SharedCall& call) { launch_shared<Reduction::kMin>(call); }

}  // namespace sheaf::cuda
