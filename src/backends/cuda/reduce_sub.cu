// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_chained.cuh"
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_private.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_sub(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kSub>(scatter, call, sorted);
}

void chained_sub(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  launch_chained<Reduction::kSub>(scatter, call, chains);
}

void private_sub(const PrivateCall& call) { launch_private<Reduction::kSub>(call); }

void shared_sub(const SharedCall& call) { launch_shared<Reduction::kSub>(call); }

}  // namespace sheaf::cuda
