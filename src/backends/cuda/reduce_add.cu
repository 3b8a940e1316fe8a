// SPDX-License-Identifier: MIT
#include "backends/cuda/reduce_chained.cuh"
#include "backends/cuda/reduce_long.cuh"
#include "backends/cuda/reduce_private.cuh"
#include "backends/cuda/reduce_shared.cuh"

namespace sheaf::cuda {

void reduce_add(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  launch_reduce<Reduction::kAdd>(scatter, call, sorted);
}

void chained_add(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  launch_chained<Reduction::kAdd>(scatter, call, chains);
}

void private_add(const PrivateCall& call) { launch_private<Reduction::kAdd>(call); }

void shared_add(const SharedCall& call) { launch_shared<Reduction::kAdd>(call); }

}  // namespace sheaf::cuda
