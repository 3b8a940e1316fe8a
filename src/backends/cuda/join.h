// SPDX-License-Identifier: MIT
//
// Joins by element type, a file a group of types: they take long to compile.
#pragma once

#include "backends/cuda/scatter.h"

namespace sheaf::cuda {

// `together`: rows may be moved 16 bytes at a time.
void join_floats(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                 bool together);
void join_small_floats(const ScatterNest& scatter, const ScatterCall& call,
                       const SortedTuples& sorted, bool together);
void join_integers(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   bool together);

}  // namespace sheaf::cuda
