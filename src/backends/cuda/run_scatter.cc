// SPDX-License-Identifier: MIT
//
// Running a scatter on the device: the steps of plan/scatter_steps.h, in the order of the stream.
#include <cuda_runtime_api.h>

#include "backends/cuda/device.h"
#include "backends/cuda/run.h"
#include "backends/cuda/scatter.h"
#include "backends/plan_parts.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf::cuda {
namespace {

// Kernels compute with whole elements.
void check_alignment(const Plan& plan, const char* tensor, const void* memory) {
  if (plan.nest().reduction == Reduction::kNone) {
    return;
  }
  const DType type = plan.data().dtype;
  const int64_t part = type == c64 || type == c128 ? type.bytes() / 2 : type.bytes();
  if (reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(part) != 0) {
    refuse(plan.request(), "misaligned pointer",
           cat(tensor, " is ", plan.data().dtype.name(), ", but its address is no multiple of ",
               part, " bytes, which a GPU cannot compute with"),
           "a copy of the tensor at an aligned address");
  }
}

void check_kernel(const Plan& plan, std::string_view asked) {
  if (asked.empty() || asked == "cuda") {
    return;
  }
  for (const KernelReport& report : cuda::kernels_for(plan)) {
    if (report.name == asked && report.refusal.empty()) {
      return;
    }
  }
  throw Error(ErrorCode::kUnsupported,
              four_lines(plan.request(), "no such kernel",
                         cat("\"", asked, "\" does not run this scatter on the cuda backend"),
                         "another kernel; sheaf explain --kernels lists them"));
}

void copy_base(const Plan& plan, const void* data, const ScatterCall& call) {
  const ScatterSteps& steps = PlanParts::scatter_steps(plan);
  if (plan.request().onto_zeros) {
    launch_zero(steps.base, call);
  } else if (data != call.output) {
    launch_rows({steps.base, static_cast<const std::byte*>(data), nullptr, call.output,
                 call.verdict, call.stream});
  }
}

void join_updates(const Plan& plan, const ScatterCall& call, std::byte* workspace,
                  const ScatterLayout& layout) {
  if (joins_by_atomics(plan)) {
    launch_atomics(plan.nest(), call);
    return;
  }
  const ScatterNest scatter = scatter_nest(plan.nest());
  launch_join(scatter, call, launch_sort(scatter, call, workspace, layout));
}

void finish_mean(const Plan& plan, const MeanSteps& mean, const ScatterCall& call,
                 std::byte* counts) {
  cudaMemsetAsync(counts, 0, 8 * static_cast<size_t>(mean.count_elements), call.stream);
  launch_counts(mean.count, call, counts);
  launch_divide(mean.divide, plan.output().dtype, call, counts, plan.request().include_self);
}

}  // namespace

// A request a few elements: where a tuple has many, sorting is faster, and keeps the order besides.
bool joins_by_atomics(const Plan& plan) {
  constexpr int64_t kMostRequests = 8;
  const Nest& nest = plan.nest();
  const int64_t request_bytes = nest.element_type == f32 ? 16 : nest.element_bytes;
  return plan.request().relaxed && atomics_know(nest.element_type, nest.reduction) &&
         nest.row_bytes <= kMostRequests * request_bytes;
}

void run(const Plan& plan, const void* data, const void* indices, const void* updates, void* output,
         WorkspaceView workspace, Stream stream, const RunOptions& options) {
  PlanParts::check_scatter_memory(plan, data, indices, updates, output);
  current_device();
  check_call(plan, indices, workspace);
  check_alignment(plan, "output", output);
  check_alignment(plan, "updates", updates);
  check_kernel(plan, options.kernel);
  Verdict* const verdict = verdict_of(plan, workspace);
  auto* rest = static_cast<std::byte*>(workspace.memory);
  if (verdict != nullptr) {
    rest += kWorkspaceAlignment;
    start_check(check_args(plan, indices, verdict), stream);
  }
  const ScatterSteps& steps = PlanParts::scatter_steps(plan);
  const ScatterCall call{static_cast<const std::byte*>(indices),
                         static_cast<const std::byte*>(updates), static_cast<std::byte*>(output),
                         verdict, stream};
  if (!steps.base.empty()) {
    copy_base(plan, data, call);
    if (!plan.nest().empty()) {
      const ScatterLayout layout = scatter_layout(plan);
      if (steps.start) {
        launch_start(*steps.start, steps.neutral, call);
      }
      join_updates(plan, call, rest, layout);
      if (steps.mean) {
        finish_mean(plan, *steps.mean, call, rest + layout.counts);
      }
    }
  }
  check_launches("starting a scatter");
}

}  // namespace sheaf::cuda
