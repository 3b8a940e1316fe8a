// SPDX-License-Identifier: MIT
//
// The gather kernels of the CPU, one file per family: who takes which nest, and how it is cut into
// tiles.
#pragma once

#include "backends/cpu/tiles.h"
#include "execution/backend.h"

namespace sheaf::cpu {

inline constexpr int64_t kNarrowBytes = 64;  // rows of more are wide

// rows.cc
const char* small_refusal(const KernelQuery& query);
const char* wide_refusal(const KernelQuery& query);
const char* narrow_refusal(const KernelQuery& query);
bool run_small(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
bool run_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

void copy_rows(const RowCopy& copy, int threads);  // copy_rows.cc: Backend::copy_rows

// Why rows are not one contiguous row per index, side by side in the output; null if they are.
const char* rows_shape_refusal(const Nest& nest);

// lookup.cc
const char* lookup_refusal(const KernelQuery& query);
bool run_lookup(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// columns.cc
const char* columns_refusal(const KernelQuery& query);
bool run_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// strided.cc
bool run_strided(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// tiling.cc: how many rows ahead of its use a row is prefetched; 0: rows are in cache.
int64_t prefetch_rows(const Nest& nest);
int64_t rows_ahead(int64_t row_bytes);  // the same for rows that are not in cache

// tiling.cc: whether so large an output is written around the cache.
bool exceeds_cache(int64_t output_bytes);

// tiling.cc: runs a nest in tiles. A family has chosen their sizes; the rest of `tiling` is decided
// here. False if a bad index was met (launch.check_while_moving).
bool run_tiling(const Nest& nest, Tiling& tiling, const GatherBuffers& buffers,
                const Launch& launch);

// check.cc: Backend::check.
bool all_in_range(const Plan& plan, const std::byte* indices, const Launch& launch);

}  // namespace sheaf::cpu
