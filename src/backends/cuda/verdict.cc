// SPDX-License-Identifier: MIT
//
// Reading a verdict, and saying what it says as the CPU would.
#include "backends/cuda/verdict.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/device.h"
#include "backends/cuda/run.h"
#include "plan/index_error.h"
#include "plan/lower.h"
#include "plan/refuse.h"

namespace sheaf::cuda {
namespace {

BadIndex bad_index(const Plan& plan, const Verdict& verdict) {
  const TensorSpec& spec = plan.indices();
  BadIndex bad;
  bad.position = Dims(spec.rank(), 0);
  auto rest = static_cast<int64_t>(~verdict.not_first);
  for (int d = spec.rank() - 1; d >= 0; --d) {
    bad.position[d] = rest % spec.sizes[d];
    rest /= spec.sizes[d];
  }
  const int tuple = tuple_dim(plan.request());
  bad.component = tuple < 0 ? 0 : static_cast<int>(bad.position[tuple]);
  bad.count = static_cast<int64_t>(verdict.bad);
  bad.value = spec.dtype == u64 ? std::to_string(verdict.value)
                                : std::to_string(static_cast<int64_t>(verdict.value));
  return bad;
}

}  // namespace

void check(const Plan& plan, WorkspaceView workspace, Stream stream) {
  const Verdict* on_device = verdict_of(plan, workspace);
  if (plan.nest().out_of_range == OutOfRange::kFail &&
      (on_device == nullptr || workspace.bytes < sizeof(Verdict))) {
    refuse(plan.request(), "no verdict to read",
           "under the rule fail a run leaves it in its workspace, and this one has no room for it",
           "the workspace that the run was given");
  }
  Verdict verdict{};
  if (on_device != nullptr) {
    check_result(
        cudaMemcpyAsync(&verdict, on_device, sizeof verdict, cudaMemcpyDeviceToHost, stream),
        "reading the verdict on the indices");
  }
  check_result(cudaStreamSynchronize(stream), "waiting for a stream");
  if (verdict.bad != 0) {
    throw_bad_index(plan, bad_index(plan, verdict));
  }
}

}  // namespace sheaf::cuda
