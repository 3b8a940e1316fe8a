// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_chained.cuh"
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_private.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_mul(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kMul>(scatter, call, sorted);
}

void chained_mul(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  launch_chained<Reduction::kMul>(scatter, call, chains);
}

void private_mul(const PrivateCall& call) { launch_private<Reduction::kMul>(call); }

void shared_mul(const SharedCall& call) { launch_shared<Reduction::kMul>(call); }

}  // namespace sheaf::cuda
