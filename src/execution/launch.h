// SPDX-License-Identifier: MIT
//
// From a queue to the launch of one run: its backend, its workspace, and the verdict on its indices
// under kFail. On the host the verdict is known when the check returns; on a device it is enqueued
// like everything else, and read by finish().
#pragma once

#include "execution/backend.h"
#include "sheaf/queue.h"

namespace sheaf {

// The backend of a device queue, made ready for the calling thread; null for the host.
const Backend* prepared_device(const Queue& queue);

// Parts of a device workspace: the verdict, what the kernel wants, and the counts of a mean. All
// begin at multiples of 256 bytes.
struct WorkspaceLayout {
  size_t kernel = 0, counts = 0, bytes = 0;
};
WorkspaceLayout workspace_layout(const Plan& plan, size_t kernel_bytes);

// A device workspace with f32 copies of the tensors behind the `inner` bytes that the plan of the
// copies needs. Without copies it has those bytes.
struct WideLayout {
  size_t data = 0, updates = 0, bytes = 0;
};
WideLayout wide_layout(const Plan& plan, size_t inner);

// Refuses a workspace that has fewer bytes, or is misaligned.
void check_workspace(const Plan& plan, const Queue& queue, size_t needed);

// A launch on the host, or on the device of `queue` in its checked workspace. Refuses a workspace
// that is too small or misaligned.
Launch host_launch(const Queue& queue);
Launch device_launch(const Plan& plan, const Queue& queue, const WorkspaceLayout& layout);

// Refuses addresses that the device cannot read indices or compute elements at.
void check_alignment(const Plan& plan, const DeviceSteps& device, const char* tensor, DType type,
                     const void* memory);

// Before a kernel runs: has all indices checked, unless the kernel does it. Throws IndexError where
// the answer is known at once.
void check_before(const Plan& plan, const Backend& backend, Checks kernel_checks,
                  const std::byte* indices, bool output_is_fresh, Launch& launch);

// After the last step of a run on a device: completes the verdict and looks for failed launches.
void finish_launches(const Plan& plan, const Backend& device, const std::byte* indices,
                     const Launch& launch, const char* what);

// Sends what was enqueued on the stream to the device. `what` was being started.
void submit(const DeviceSteps& device, void* stream, const char* what);

// Throws IndexError for the first bad index of host memory. If there is none any more, since
// another thread has changed the indices, throws IndexError saying so.
[[noreturn]] void throw_bad_index_met(const Plan& plan, const void* indices);

}  // namespace sheaf
