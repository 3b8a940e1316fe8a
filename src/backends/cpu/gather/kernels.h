// SPDX-License-Identifier: MIT
//
// The gather kernels of the CPU: which nests each takes, and the tiles that it cuts them into.
#pragma once

#include <vector>

#include "backends/cpu/gather/tiles.h"
#include "execution/backend.h"

namespace sheaf::cpu {

// Every gather kernel, in the order in which they are asked: cpu.NAME takes a nest if
// NAME_refusal() has none. whole(NAME) runs run_NAME(); tiled(NAME) runs the tiles of cut_NAME().
#define SHEAF_CPU_GATHER_KERNELS(whole, tiled) \
  whole(small) tiled(lookup) tiled(rows) tiled(columns) tiled(strided)

// gather_kernels.cc
#define SHEAF_DECLARE_WHOLE(name)                       \
  const char* name##_refusal(const KernelQuery& query); \
  bool run_##name(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
#define SHEAF_DECLARE_TILED(name)                       \
  const char* name##_refusal(const KernelQuery& query); \
  Tiling cut_##name(const Nest& nest);
SHEAF_CPU_GATHER_KERNELS(SHEAF_DECLARE_WHOLE, SHEAF_DECLARE_TILED)
#undef SHEAF_DECLARE_WHOLE
#undef SHEAF_DECLARE_TILED

// tiling.cc: how many rows ahead of its use a row is prefetched; 0: rows are in cache.
int64_t prefetch_rows(const Nest& nest);
int64_t rows_ahead(int64_t row_bytes);  // the same for rows that are not in cache

// tiling.cc: runs a nest in tiles whose sizes a kernel has chosen. False if a bad index was met
// (launch.check_while_moving).
bool run_tiling(const Nest& nest, Tiling tiling, const GatherBuffers& buffers,
                const Launch& launch);
// What the movers say to such tiles.
std::vector<MoverReport> tiling_movers(const KernelQuery& query, Tiling tiling);

void copy_rows(const RowCopy& copy, int threads);  // copy_rows.cc: Backend::copy_rows

// check.cc: Backend::check.
bool all_in_range(const Plan& plan, const std::byte* indices, const Launch& launch);

}  // namespace sheaf::cpu
