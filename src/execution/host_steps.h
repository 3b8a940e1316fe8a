// SPDX-License-Identifier: MIT
//
// Steps of a scatter that every backend on host memory takes in the same way. None needs memory.
#pragma once

#include "execution/backend.h"

namespace sheaf {

// Backend::fill and Backend::count by the scatter kernels of `backend`.
void host_fill(const Backend& backend, const Nest& nest, const std::byte* element,
               const ScatterBuffers& buffers, const Launch& launch);
void host_count(const Backend& backend, const Nest& nest, const ScatterBuffers& buffers,
                const Launch& launch);

// Backend::divide.
void host_divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums,
                 int64_t self, const Launch& launch);

// Converts one element for each point of a nest without coordinates: from a float type narrower
// than f32 to f32, or the reverse, rounding to nearest, ties to even.
void host_convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
                  const Launch& launch);

}  // namespace sheaf
