// SPDX-License-Identifier: MIT
//
// Running a gather on the device: the last checks, the check of the indices, one kernel.
#include "backends/cuda/run.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/device.h"
#include "backends/cuda/gather.h"
#include "backends/cuda/scatter_nest.h"
#include "backends/plan_parts.h"
#include "plan/lower.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::cuda {
namespace {

bool wanted(std::string_view asked, std::string_view kernel) {
  return asked.empty() || asked == "cuda" || asked == kernel;
}

const GatherKernel& choose(const Plan& plan, std::string_view asked) {
  std::string refusals;
  for (const GatherKernel& kernel : gather_kernels()) {
    if (!wanted(asked, kernel.name)) {
      continue;
    }
    const char* refusal = kernel.refusal(plan.nest());
    if (refusal == nullptr) {
      return kernel;
    }
    refusals += cat(refusals.empty() ? "" : "; ", kernel.name, " refuses: ", refusal);
  }
  if (refusals.empty()) {
    refusals = cat("\"", asked, "\" names no gather kernel of the cuda backend");
  }
  throw Error(ErrorCode::kUnsupported,
              four_lines(plan.request(), "no such kernel", refusals,
                         "another kernel; sheaf explain --kernels lists them"));
}

}  // namespace

Verdict* verdict_of(const Plan& plan, WorkspaceView workspace) {
  return plan.nest().out_of_range == OutOfRange::kFail ? static_cast<Verdict*>(workspace.memory)
                                                       : nullptr;
}

void check_call(const Plan& plan, const void* indices, WorkspaceView workspace) {
  const auto width = static_cast<uintptr_t>(plan.indices().dtype.bytes());
  if (reinterpret_cast<uintptr_t>(indices) % width != 0) {
    refuse(plan.request(), "misaligned pointer",
           cat("indices are ", plan.indices().dtype.name(),
               ", but their address is no multiple of ", width, " bytes, which a GPU cannot read"),
           "a copy of the indices at an aligned address");
  }
  const size_t needed = workspace_bytes(plan);
  if (workspace.bytes < needed || (workspace.memory == nullptr && needed > 0)) {
    refuse(plan.request(), "workspace too small",
           cat("the workspace has ", workspace.memory == nullptr ? 0 : workspace.bytes,
               " bytes, but the plan needs ", needed),
           "cuda::Workspace(plan), or as many bytes as cuda::workspace_bytes(plan) says");
  }
  if (needed > 0 && reinterpret_cast<uintptr_t>(workspace.memory) % kWorkspaceAlignment != 0) {
    refuse(plan.request(), "misaligned workspace",
           cat("its address is no multiple of ", kWorkspaceAlignment, " bytes"),
           "memory as cudaMalloc gives it");
  }
}

CheckArgs check_args(const Plan& plan, const void* indices, Verdict* verdict) {
  const TensorSpec& spec = plan.indices();
  const int tuple = tuple_dim(plan.request());
  Nest order = plan.nest();
  order.loops.clear();
  CheckArgs args{};
  args.inner = 1;
  int64_t count = 1;
  for (int d = 0; d < spec.rank(); ++d) {
    const int64_t size = spec.sizes[d];
    const int64_t stride = size > 1 ? spec.strides[d] : 0;
    count *= size;
    args.inner = tuple >= 0 && d > tuple ? args.inner * size : 1;
    if (size == 1) {
      continue;
    }
    if (!order.loops.empty() && checked_mul(stride, size) == order.loops.back().index) {
      order.loops.back() = {order.loops.back().extent * size, 0, stride, 0, 0};
    } else {
      order.loops.push_back({size, 0, stride, 0, 0});
    }
  }
  args.order = device_nest<AnyNest>(order);
  args.indices = static_cast<const std::byte*>(indices);
  args.count = count;
  args.components = tuple >= 0 ? spec.sizes[tuple] : 1;
  args.verdict = verdict;
  return args;
}

void start_check(const CheckArgs& args, Stream stream) {
  if (args.verdict == nullptr) {
    return;
  }
  if (args.count == 0) {
    cudaMemsetAsync(args.verdict, 0, sizeof(Verdict), stream);
  } else {
    launch_check(args, stream);
  }
}

void run(const Plan& plan, const void* data, const void* indices, void* output,
         WorkspaceView workspace, Stream stream, const RunOptions& options) {
  PlanParts::check_memory(plan, data, indices, output);
  current_device();
  check_call(plan, indices, workspace);
  const Nest& nest = plan.nest();
  const GatherKernel& kernel = choose(plan, options.kernel);
  Verdict* const verdict = verdict_of(plan, workspace);
  const GatherCall call{
      nest,
      static_cast<const std::byte*>(data),
      static_cast<const std::byte*>(indices),
      static_cast<std::byte*>(output),
      verdict,
      stream,
      static_cast<std::byte*>(workspace.memory) + (verdict != nullptr ? kWorkspaceAlignment : 0)};
  if (verdict != nullptr) {
    const CheckArgs check = check_args(plan, indices, verdict);
    if (kernel.by_words && !nest.empty() && check.count > 0 && fits_small_rows(call, check)) {
      launch_small_rows(call, check);
      check_launches("starting a gather");
      return;
    }
    start_check(check, stream);
  }
  if (!nest.empty()) {
    kernel.launch(call);
  }
  check_launches("starting a gather");
}

std::vector<KernelReport> kernels_for(const Plan& plan) {
  std::vector<KernelReport> reports;
  if (!available()) {
    return reports;  // what fits depends on the device
  }
  if (plan.is_scatter()) {
    const bool atomics = joins_by_atomics(plan);
    return {{"cuda.atomics",
             atomics ? "" : "not relaxed, or atomics would be slower, or do not know the type"},
            {"cuda.sorted", atomics ? "no room for sorting: the plan is relaxed" : ""}};
  }
  for (const GatherKernel& kernel : gather_kernels()) {
    const char* refusal = kernel.refusal(plan.nest());
    reports.push_back({std::string(kernel.name), refusal == nullptr ? "" : refusal});
  }
  return reports;
}

}  // namespace sheaf::cuda
