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

// Refuses null pointers, ranges that leave the address space, an output that overlaps an input, and
// a plan of the other kind.
void check_scatter_memory(const Plan& plan, const TensorMemory& memory);

// The same for a gather whose data is in other memory: only indices and output are looked at.
// `same_memory`: they are in the same, so that they may overlap.
void check_indices_and_output(const Plan& plan, const TensorMemory& memory, bool same_memory);

// The same for the indices alone, of a gather.
void check_indices(const Plan& plan, const void* indices);

// The same for a scatter whose output is in other memory: only indices and updates are looked at.
void check_indices_and_updates(const Plan& plan, const TensorMemory& memory);

}  // namespace sheaf
