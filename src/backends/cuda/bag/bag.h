// SPDX-License-Identifier: MIT
//
// The bag kernels of this backend. A run launches and returns, as in gather.h: first the check of
// the segments (segments.cu), then the short bags (pool.cuh) beside the long ones (pool_long.cuh).
#pragma once

#include "backends/cuda/device.h"
#include "execution/backend.h"
#include "execution/bag_kernel.h"

namespace sheaf::cuda {

// Rows of 16-byte words of f32, f16 or bf16, and of codes with their scale and bias in the row;
// sums in f32.
const char* bag_rows_refusal(const BagNest& nest);
BagEnd run_bag_rows(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);

// Everything: element by element.
const char* bag_elements_refusal(const BagNest& nest);
BagEnd run_bag_elements(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);

size_t bag_bytes(const BagNest& nest);

// Backend::check_segments
void check_segments(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);

// What a bag keeps in its workspace where a tensor says which entries a bag has. The parts are
// those of SegmentFaults.
struct BagSegments {
  int64_t* offsets = nullptr;    // the run's own: one more than there are bags
  int64_t* long_bags = nullptr;  // of part i: from i * part_bags on, in any order
  struct State {
    int64_t long_count[kSegmentParts];
    int64_t sums[kSegmentParts];  // of lengths
    unsigned long long taken;     // pieces of long bags that blocks have taken
  }* state = nullptr;
  int64_t part_bags = 0;
};

BagSegments bag_segments(const BagNest& nest, std::byte* workspace);

// Enqueued: checks the segments, writes the offsets and lists bags of more than `long_limit`
// entries.
void launch_segments(const BagNest& nest, const BagBuffers& buffers, const BagSegments& segments,
                     int64_t long_limit, Stream stream);

}  // namespace sheaf::cuda
