// SPDX-License-Identifier: MIT
//
// The bag kernel: the check of the segments, then every bag whose entries one invocation may join
// at once, then the longer ones, so many entries after the other.
#pragma once

#include "backends/vulkan/recorder.h"
#include "backends/vulkan/table.h"
#include "execution/backend.h"
#include "execution/bag_kernel.h"

namespace sheaf::vulkan {

const char* bag_refusal(const BagNest& nest);
BagEnd run_bag(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);
size_t bag_bytes(const BagNest& nest);

// Backend::check_segments
void check_segments(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);

// DeviceSteps::read_faults
SegmentFaults read_faults(const SegmentFaults* faults, void* stream);

// segments.cc
// The workspace: what the check of the segments keeps, the offsets of the run's own, what is
// carried from one dispatch to the next.
struct BagWorkspace {
  int64_t state = 0, offsets = 0, carried = 0, bytes = 0;

  explicit BagWorkspace(const BagNest& nest);
};

// Enqueued: checks the segments, writes the offsets, and a verdict to the head of the faults.
void dispatch_segments(Recording& recording, const BagNest& nest, Address call);

}  // namespace sheaf::vulkan
