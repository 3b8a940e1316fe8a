// SPDX-License-Identifier: MIT
//
// Mixtures of experts: a counting sort of the choices by expert (route.cu), then every token is
// read once and written to all of its rows (spread.cu).
#pragma once

#include "backends/cuda/device.h"
#include "execution/backend.h"
#include "execution/moe_steps.h"

namespace sheaf::cuda {

const char* moe_refusal(const MoeNest& nest);
size_t moe_bytes(const MoeNest& nest);
void run_moe(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch);

// Enqueued: token t goes to the rows inverse[t, …] that are not -1.
void launch_spread(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch);

}  // namespace sheaf::cuda
