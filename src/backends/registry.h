// SPDX-License-Identifier: MIT
//
// Which kernel runs a plan: the first that accepts, of the fastest backend.
#pragma once

#include "backends/backend.h"

namespace sheaf {

template <class Memory>
struct Choice {
  const Backend* backend = nullptr;
  const KernelOn<Memory>* kernel = nullptr;
};

// Throws kUnsupported if the kernel that was asked for refuses, or does not exist.
Choice<Buffers> choose_gather(const Plan& plan, const RunOptions& options);
Choice<ScatterBuffers> choose_scatter(const Plan& plan, const RunOptions& options);

// The kernel of `backend` for one more nest of a scatter; the last of a table refuses nothing.
const ScatterKernel& scatter_kernel(const Backend& backend, const Nest& nest);

}  // namespace sheaf
