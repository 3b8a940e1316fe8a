// SPDX-License-Identifier: MIT
//
// The steps around kernels that Backend and DeviceSteps name.
#pragma once

#include "backends/vulkan/recorder.h"
#include "execution/backend.h"

namespace sheaf::vulkan {

// check.cc
bool check(const Plan& plan, const std::byte* indices, const Launch& launch);
void complete_verdict(const Plan& plan, const std::byte* indices, const Launch& launch);
Verdict wait(const Verdict* verdict, void* stream);
void submit(void* stream);
// Enqueued.
void copy_verdict(const Verdict* verdict, Address to, Recorder& recorder);

// scatter.cc
void fill(const Backend& self, const Nest& nest, const std::byte* element,
          const ScatterBuffers& buffers, const Launch& launch);
void count(const Backend& self, const Nest& nest, const ScatterBuffers& buffers,
           const Launch& launch);
void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch);
void convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
             const Launch& launch);

}  // namespace sheaf::vulkan
