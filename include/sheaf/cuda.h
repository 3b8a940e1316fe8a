// SPDX-License-Identifier: MIT
//
// Plans on NVIDIA GPUs: any plan, run on device memory, in the order of a stream.
//
//   sheaf::Plan plan = sheaf::plan_gather(data_spec, indices_spec);
//   sheaf::cuda::Workspace workspace(plan);                            // once
//   sheaf::cuda::run(plan, data, indices, output, workspace, stream);  // as often as you like
//   sheaf::cuda::check(plan, workspace, stream);                       // waits; throws IndexError
//
// run() launches kernels and returns: it allocates nothing and waits for nothing, so it can be
// captured in a CUDA graph. Results have the same bits as on every other backend. This header needs
// none of CUDA's; where the build has no CUDA, everything here throws kUnsupported, save for
// available(), description() and kernels_for().
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sheaf/explain.h"
#include "sheaf/plan.h"

struct CUstream_st;  // cudaStream_t and CUstream point to one

namespace sheaf::cuda {

using Stream = CUstream_st*;

// Whether run() can work: this build has the backend and the current device is one it has code for.
bool available();

// The current device ("NVIDIA H200, compute capability 9.0, 132 multiprocessors, 139 GiB"), or why
// there is none to use.
std::string description();

// Device memory that a run of `plan` needs besides its tensors: room for the verdict on the indices
// under kFail, for sorting a scatter's updates, and for packing columns (cuda.columns). 0 for every
// other plan.
size_t workspace_bytes(const Plan& plan);

// Device memory, aligned to 256 bytes, that runs use one after the other: two that may overlap in
// time need one each.
struct WorkspaceView {
  void* memory = nullptr;
  size_t bytes = 0;
};

// The same, owned: taken from the current device by cudaMalloc.
class Workspace {
 public:
  explicit Workspace(const Plan& plan);
  explicit Workspace(size_t bytes);
  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&& other) noexcept;
  ~Workspace();
  operator WorkspaceView() const { return view_; }

 private:
  WorkspaceView view_;
};

// Starts a gather, or a scatter, on device memory laid out as the plan says. Throws at once for
// what can be seen from here: null pointers, tensors that overlap, a workspace that is too small,
// an error of CUDA. Under kFail a bad index keeps the output untouched, and check() tells; the
// other rules have nothing to tell. `options.kernel` may force a kernel ("cuda.rows").
void run(const Plan& plan, const void* data, const void* indices, void* output,
         WorkspaceView workspace = {}, Stream stream = nullptr, const RunOptions& options = {});
void run(const Plan& plan, const void* data, const void* indices, const void* updates, void* output,
         WorkspaceView workspace = {}, Stream stream = nullptr, const RunOptions& options = {});

// Waits for `stream` and throws IndexError if the last run that used `workspace` met a bad index.
// For a plan under another rule than kFail it only waits. Must not be called during a capture.
void check(const Plan& plan, WorkspaceView workspace, Stream stream = nullptr);

// What the kernels of this backend say to a plan, in the order in which they are asked. Empty where
// there is no device: what fits depends on it.
std::vector<KernelReport> kernels_for(const Plan& plan);

}  // namespace sheaf::cuda
