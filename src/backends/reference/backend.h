// SPDX-License-Identifier: MIT
//
// The parts of the reference backend.
#pragma once

#include "backends/backend.h"

namespace sheaf::reference {

const char* accepts_everything(const Nest& nest);
void gather(const Nest& nest, const Buffers& buffers, int threads);
void scatter(const Nest& nest, const ScatterBuffers& buffers, int threads);
bool all_in_range(const Nest& nest, const std::byte* indices, int threads);
void copy(const Nest& nest, const std::byte* data, std::byte* output, int threads);

}  // namespace sheaf::reference
