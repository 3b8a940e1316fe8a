// SPDX-License-Identifier: MIT
//
// The parts of the reference backend.
#pragma once

#include "execution/backend.h"
#include "execution/bag_kernel.h"
#include "execution/encoded_kernel.h"

namespace sheaf::reference {

// Its kernels, and Backend::check and Backend::copy.
bool gather(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
bool scatter(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
BagEnd bag(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);
bool gather_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch);
bool all_in_range(const Plan& plan, const std::byte* indices, const Launch& launch);
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);

}  // namespace sheaf::reference
