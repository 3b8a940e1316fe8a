// SPDX-License-Identifier: MIT
//
// The gather kernels of this backend: who takes which nest. First that accepts wins.
#pragma once

#include <span>
#include <string_view>

#include "backends/cuda/launch.h"

namespace sheaf::cuda {

struct GatherKernel {
  std::string_view name;
  // Why this kernel cannot run the nest, or is not worth it; null if it can.
  const char* (*refusal)(const Nest& nest);
  void (*launch)(const GatherCall& call);
  bool by_words;  // launch_small_rows would do the same
};

std::span<const GatherKernel> gather_kernels();

// Room that a gather needs after the verdict: of cuda.columns, where that is not refused.
size_t gather_workspace_bytes(const Nest& nest);

// All steps between the words of two rows, or-ed: what their alignment follows from.
uint64_t stride_bits(const Nest& nest);

// The widest word by which the rows of a call can be moved.
int word_bytes(const GatherCall& call);

}  // namespace sheaf::cuda
