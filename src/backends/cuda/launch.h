// SPDX-License-Identifier: MIT
//
// What the host side of this backend asks the kernels for. Each function launches and returns;
// errors of CUDA are looked for once, at the end of a run.
#pragma once

#include "backends/cuda/nest.h"
#include "backends/cuda/verdict.h"
#include "sheaf/cuda.h"

namespace sheaf::cuda {

// A gather, on device pointers.
struct GatherCall {
  const Nest& nest;
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* verdict;  // null: nothing was checked
  Stream stream;
  std::byte* packed = nullptr;  // room for launch_columns
};

// The indices in row-major order of their tensor, each held against the extent of its coordinate.
struct CheckArgs {
  AnyNest order;  // `index` strides only; rule and coordinates are those of the plan
  const std::byte* indices;
  int64_t count;
  int64_t inner;       // a tuple's components stand this many elements apart
  int64_t components;  // of a tuple
  Verdict* verdict;

  // Whether the indices stand one after the other in memory.
  bool in_line() const {
    return order.any_loops == 0 || (order.any_loops == 1 && order.loops[0].index == 1);
  }
};

// check.cu. Adds what it finds to *verdict, which holds zeros.
void launch_check(const CheckArgs& args, Stream stream);

// rows.cu: any nest.
void launch_rows(const GatherCall& call);

// rows.cu: the same for a small call with indices in line, which are checked on the way.
bool fits_small_rows(const GatherCall& call, const CheckArgs& check);
void launch_small_rows(const GatherCall& call, const CheckArgs& check);

// staged.cu: the entries that an innermost loop of indices chooses from are brought to shared
// memory first. `shared_indices`: every row is chosen from by the same ones.
struct StagedShape {
  int64_t inner_extent;  // indices that choose from one row
  int64_t entries;       // of a row
  int entry_bytes;       // 1, 2, 4, 8 or 16
  bool shared_indices;
};
bool fits_staged(const StagedShape& shape);
void launch_staged(const GatherCall& call, const StagedShape& shape);

// columns.cu: strips of columns of the innermost loop, each with its part of data packed.
int64_t strip_width(const Nest& nest);  // in columns; 0: not one fits
size_t packed_bytes(const Nest& nest);
bool fits_columns(const Nest& nest);
void launch_columns(const GatherCall& call);

}  // namespace sheaf::cuda
