// SPDX-License-Identifier: MIT
//
// The gather kernels, and the copies that are made of them.
#pragma once

#include "backends/vulkan/nest.h"
#include "execution/backend.h"

namespace sheaf::vulkan {

// lines: one index per row, rows that follow one another in the output, two loops at most.
const char* lines_refusal(const KernelQuery& query);
bool run_lines(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// words: rows whose sizes, strides and addresses are multiples of 4 bytes, in words of up to 16.
const char* rows_refusal(const KernelQuery& query);
bool run_words(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
const char* strided_refusal(const KernelQuery& query);

// packed: rows of any size and alignment that follow one another in the output.
const char* packed_refusal(const KernelQuery& query);
bool run_packed(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// units: everything else, by bytes or halves.
const char* units_refusal(const KernelQuery& query);
bool run_units(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// encoded.cc: gathers of encoded tables, element by element.
const char* encoded_refusal(const EncodedNest& nest);
bool run_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch);

// Backend::copy and DeviceSteps::zero
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);
void zero(void* memory, size_t bytes, void* stream);

// Whether rows follow one another in the output, in the order of the points.
bool rows_in_line(const Nest& nest);
// What gathers of every kind are called with.
ShaderCall gather_call(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// The widest unit, up to 16 bytes, by which rows at these ORed addresses can be moved.
int64_t unit_bytes(const Nest& nest, uintptr_t addresses);

}  // namespace sheaf::vulkan
