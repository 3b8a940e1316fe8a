// SPDX-License-Identifier: MIT
//
// The two drivers. Each takes a plan, memory and a queue; validates what needs the pointers,
// chooses a kernel, has the indices checked, and has the bytes moved.
#pragma once

#include "execution/backend.h"
#include "sheaf/queue.h"

namespace sheaf {

// Where a plan's tensors are, in memory of the queue.
struct TensorMemory {
  const void* data;
  const void* indices;
  const void* updates;  // of a scatter
  void* output;
};

void start_gather(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                  const RunOptions& options);
void start_scatter(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                   const RunOptions& options);

// run_wide_scatter.cc: the same for a scatter of narrow floats that accumulates in f32. Its memory
// has been checked.
void start_wide_scatter(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                        const RunOptions& options);

// check_memory.cc: null pointers, ranges that leave the address space, an output that overlaps an
// input, a plan of the other kind.
void check_gather_memory(const Plan& plan, const TensorMemory& memory);
void check_scatter_memory(const Plan& plan, const TensorMemory& memory);

}  // namespace sheaf
