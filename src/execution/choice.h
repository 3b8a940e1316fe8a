// SPDX-License-Identifier: MIT
//
// Which kernel runs a plan: the first that accepts, of the fastest backend.
#pragma once

#include "execution/backend.h"

namespace sheaf {

template <class Buffers>
struct Choice {
  const Backend* backend = nullptr;
  const KernelOn<Buffers>* kernel = nullptr;
};

// Among the kernels of `device`, or of all host backends if it is null. `asked` may name a kernel,
// one of its movers or a backend; if it is empty, SHEAF_KERNEL does, where it names one of those in
// question. Throws kUnsupported if the kernel that was asked for refuses, or does not exist.
Choice<GatherBuffers> choose_gather(const Plan& plan, const KernelQuery& query,
                                    const Backend* device, std::string_view asked);
Choice<ScatterBuffers> choose_scatter(const Plan& plan, const KernelQuery& query,
                                      const Backend* device, std::string_view asked);

// The mover that `asked`, or SHEAF_KERNEL, names ("copy" of "cpu.rows/copy"); empty: any. No part
// of a Choice, which is returned in registers.
std::string_view asked_mover(std::string_view asked);

// Workspace that the chosen kernel wants for a nest.
template <class Buffers>
size_t kernel_bytes(const Choice<Buffers>& choice, const Nest& nest, int threads) {
  return choice.kernel->workspace_bytes == nullptr || nest.empty()
             ? 0
             : choice.kernel->workspace_bytes(nest, threads);
}

// The kernel of `backend` for one more nest of a scatter; the last of a table refuses nothing.
const ScatterKernel& scatter_kernel(const Backend& backend, const Nest& nest);

}  // namespace sheaf
