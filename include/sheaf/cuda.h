// SPDX-License-Identifier: MIT
//
// Plans on NVIDIA GPUs: any plan, run on device memory, in the order of a stream. This is
// sheaf/queue.h with CUDA's words.
//
//   sheaf::Plan plan = sheaf::plan_gather(data_spec, indices_spec);
//   sheaf::cuda::Workspace workspace(plan);                            // once
//   sheaf::cuda::run(plan, data, indices, output, workspace, stream);  // as often as you like
//   sheaf::cuda::check(plan, workspace, stream);                       // waits; throws IndexError
//
// Results have the same bits as on every other backend. This header needs none of CUDA's; where the
// build has no CUDA, available() is false and runs throw kUnsupported.
#pragma once

#include <string>
#include <vector>

#include "sheaf/explain.h"
#include "sheaf/queue.h"

#pragma GCC visibility push(default)

struct CUstream_st;  // cudaStream_t and CUstream point to one

namespace sheaf::cuda {

using Stream = CUstream_st*;
using WorkspaceView = sheaf::WorkspaceView;

inline constexpr std::string_view kDevice = "cuda";

inline Queue queue(WorkspaceView workspace = {}, Stream stream = nullptr) {
  return {.device = kDevice, .stream = stream, .workspace = workspace};
}

// Whether run() can work: this build has the backend and the current device is one it has code for.
inline bool available() { return device_available(kDevice); }

// The current device ("NVIDIA H200, compute capability 9.0, 132 multiprocessors, 139 GiB"), or why
// there is none to use.
inline std::string description() { return device_description(kDevice); }

inline size_t workspace_bytes(const Plan& plan, const RunOptions& options = {}) {
  return sheaf::workspace_bytes(plan, queue(), options);
}

// Workspace of the current device, owned.
class Workspace {
 public:
  explicit Workspace(const Plan& plan) : Workspace(cuda::workspace_bytes(plan)) {}
  explicit Workspace(size_t bytes) : memory_(kDevice, bytes) {}
  operator WorkspaceView() const { return memory_; }

 private:
  DeviceMemory memory_;
};

// Starts a gather, or a scatter, on device memory laid out as the plan says. Throws at once for
// what can be seen from here: null pointers, tensors that overlap, a workspace that is too small,
// an error of CUDA. Under kFail a bad index keeps the output untouched, and check() reports it.
// `options.kernel` may force a kernel ("cuda.rows").
inline void run(const Plan& plan, const void* data, const void* indices, void* output,
                WorkspaceView workspace = {}, Stream stream = nullptr,
                const RunOptions& options = {}) {
  sheaf::run(plan, data, indices, output, queue(workspace, stream), options);
}
inline void run(const Plan& plan, const void* data, const void* indices, const void* updates,
                void* output, WorkspaceView workspace = {}, Stream stream = nullptr,
                const RunOptions& options = {}) {
  sheaf::run(plan, data, indices, updates, output, queue(workspace, stream), options);
}

// Waits for `stream` and throws IndexError if the last run that used `workspace` met a bad index.
// For a plan under another rule than kFail it only waits. Must not be called during a capture.
inline void check(const Plan& plan, WorkspaceView workspace, Stream stream = nullptr) {
  finish(plan, queue(workspace, stream));
}

// What the kernels of this backend say to a plan, in the order in which they are asked. Empty where
// there is no device: what fits depends on it.
inline std::vector<KernelReport> kernels_for(const Plan& plan) {
  return sheaf::kernels_for(plan, queue());
}

}  // namespace sheaf::cuda

#pragma GCC visibility pop
