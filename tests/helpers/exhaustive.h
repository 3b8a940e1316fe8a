// SPDX-License-Identifier: MIT
//
// Every small problem there is, by operator and rank of data, on every kernel of a machine. In all
// of them: data of all shapes of that rank with extents 0 to 3, every axis and number of batch
// dimensions that exists and those just outside, index values -4 to 4 (see SmallWorld), both
// meanings of negative values with all five rules for values out of range (`trust` only where none
// is). What has to be refused is refused, with the output as it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "helpers/machine.h"

// All combinations of values for up to `full` indices.
void check_every_gather(const Machine& machine, int64_t data_rank, bool batched);
void check_every_gather_elements(const Machine& machine, int64_t data_rank, bool broadcast,
                                 size_t full);
void check_every_gather_nd(const Machine& machine, int64_t data_rank, size_t full);

// ScatterWorld says how reductions, types and threads take turns.
void check_every_scatter(const Machine& machine, int64_t data_rank, bool batched);
void check_every_scatter_elements(const Machine& machine, int64_t data_rank, size_t full);
void check_every_scatter_nd(const Machine& machine, int64_t data_rank, size_t full);

// The general operators: data and start indices of ranks 0 to 2 with extents 0 to 2; every
// index_vector_dim; every start_index_map; every choice of collapsed, batching and offset
// dimensions, sound or not; slices of every size from 0 to the extent. All values for single
// indices, 9 fillings for more. Of the calls to be refused, which are most, one in five is made;
// tests/plan/infer_xla_test.cc has each reason for a refusal.
void check_every_xla_gather(const Machine& machine, int64_t data_rank, int64_t indices_rank);
void check_every_xla_scatter(const Machine& machine, int64_t data_rank, int64_t indices_rank);
