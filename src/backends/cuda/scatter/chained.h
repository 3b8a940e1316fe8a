// SPDX-License-Identifier: MIT
//
// What the parts of cuda.chained have in common: chains of the tuples that lead to one cell
// (chained.cu), their reduction (reduce_chained.cuh, one file per reduction), and the sort
// of tuples whose chains are too long (sort_on_demand.cu).
#pragma once

#include "backends/cuda/scatter/scatter.h"

namespace sheaf::cuda {

inline constexpr uint32_t kEndOfChain = UINT32_MAX;
inline constexpr uint32_t kLongChain = UINT32_MAX - 1;  // in place of a head: left to the sort

// What the device finds out.
struct ChainState {
  uint32_t crowded;   // no chains were made
  uint32_t has_long;  // some are too long
  uint32_t left;      // tuples that were sorted
};

struct Chains {
  uint32_t* heads;  // by cell
  uint32_t* next;   // by tuple: another that came to the same cell before it
  ChainState* state;
  uint32_t cells;
};

template <Reduction kReduction>
void launch_chained(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains);

// sort_on_demand.cu: sorts what chains leave over, if the device finds any. Takes what it needs
// from a workspace of which `taken` bytes are taken.
SortLayout demand_layout(const ScatterNest& scatter, size_t taken);
SortedTuples launch_sort_on_demand(const ScatterNest& scatter, const ScatterCall& call,
                                   const Chains& chains, std::byte* workspace,
                                   const SortLayout& layout);

}  // namespace sheaf::cuda
