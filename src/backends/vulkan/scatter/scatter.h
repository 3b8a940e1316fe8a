// SPDX-License-Identifier: MIT
//
// The scatter kernels. Every tuple of indices gets the key of its cell once (plan/scatter_nest.h);
// what follows reads keys, not indices.
#pragma once

#include "backends/vulkan/dispatch.h"
#include "execution/backend.h"
#include "plan/scatter_nest.h"

namespace sheaf::vulkan {

// marked.cc: scatters without reduction. Each cell is marked with the number of its last tuple.
const char* marked_refusal(const KernelQuery& query);
bool run_marked(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t marked_bytes(const Nest& nest, int threads);

// sorted.cc: every scatter. Tuples are sorted by cell, and each cell's are reduced in order.
const char* sorted_refusal(const KernelQuery& query);
bool run_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t sorted_bytes(const Nest& nest, int threads);

// What both share.

const char* tuples_refusal(const ScatterNest& scatter);

// Strides of tuples in cells instead of bytes, so that a key is a sum.
Nest key_nest(const ScatterNest& scatter);

ShaderCall scatter_call(const ScatterNest& scatter, const ScatterBuffers& buffers,
                        const Launch& launch);

// The last tuple of each cell writes. `nest`, `slices` and keys of the call are set.
void dispatch_assign(Recording& recording, const ScatterNest& scatter, const ShaderCall& call);

}  // namespace sheaf::vulkan
