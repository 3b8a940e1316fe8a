// SPDX-License-Identifier: MIT
//
// What runs on host memory beside kernels: steps of a scatter that all backends there share, loops
// that are no plan, on the threads that plans run on, and rows from places that are known already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "execution/backend.h"
#include "sheaf/queue.h"

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

// Calls work(begin, end) for ranges that cover [0, count) once, from at most queue.threads threads.
// `bytes` is what all of it costs: as much as moving them. Returns when all are done. `work` does
// not throw. Polls the caller's CancelScope between ranges, and throws kCancelled in the name of
// `who`; work with long items polls inside them as well, and returns early.
void run_ranges(std::string_view who, int64_t count, int64_t bytes, const Queue& queue,
                const std::function<void(int64_t, int64_t)>& work);

// Copies rows on host memory, from at most `threads` threads (0: as many as pay).
void copy_rows(const RowCopy& copy, int threads);

}  // namespace sheaf
