// SPDX-License-Identifier: MIT
//
// From an operator to a loop nest, and from a loop nest to its normal form.
#pragma once

#include "plan/request.h"

namespace sheaf {

// One loop for each dimension of the grid, in order; nothing merged. `request` has been inferred.
Nest lower(const Request& request);

// The copy of a whole tensor into another of the same sizes: a nest without coordinates.
Nest lower_copy(const TensorSpec& from, const TensorSpec& to);

// Drops loops of extent 1, merges those that chain and folds the contiguous tail into row_bytes. A
// gather's loops are ordered by output stride; a scatter's keep their order, which is the order of
// its updates.
void normalize(Nest& nest);

// Only the first two steps: for a nest whose elements differ in size on its two sides.
void merge_loops(Nest& nest);

// The dimension of indices that holds the components of a tuple; -1 if each index stands alone.
int tuple_dim(const Request& request);

// The data axis that component `c` of an index tuple moves along.
int coordinate_axis(const Request& request, int c);

// How many entries of that axis one index covers: 1, or XLA's slice size.
int64_t coordinate_window(const Request& request, int c);

}  // namespace sheaf
