// SPDX-License-Identifier: MIT
#include "execution/verdict.h"

#include <utility>

#include "execution/launch.h"
#include "plan/index_error.h"
#include "plan/lower.h"
#include "plan/refuse.h"

namespace sheaf {
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

[[noreturn]] void throw_indices_changed(const Plan& plan) {
  Refusal refusal = refusal_of(plan.request(), {Reason::kIndex, "indices"}, "index out of range",
                               "an index was out of range when it was read, and no longer is: "
                               "indices changed while the call ran",
                               "indices that nobody writes to during a call");
  refusal.code = ErrorCode::kIndexOutOfRange;
  throw IndexError(std::move(refusal), Dims(plan.indices().rank(), 0), 1);
}

}  // namespace

void throw_bad_index_met(const Plan& plan, const void* indices) {
  throw_first_bad_index(plan, indices);
  throw_indices_changed(plan);
}

void check_before(const Plan& plan, const Backend& backend, Checks kernel_checks,
                  const std::byte* indices, bool output_is_fresh, Launch& launch) {
  if (plan.nest().out_of_range != OutOfRange::kFail || kernel_checks == Checks::kFirst) {
    return;
  }
  if (kernel_checks == Checks::kWhileMoving && output_is_fresh) {
    launch.check_while_moving = true;
    if (backend.device != nullptr) {
      backend.device->zero(launch.verdict, sizeof(Verdict), launch.stream);
    }
    return;
  }
  const bool good = backend.check(plan, indices, launch);
  throw_if_cancelled(launch.cancel, plan.request());
  if (!good) {
    throw_bad_index_met(plan, indices);
  }
}

void finish_launches(const Plan& plan, const Backend& device, const std::byte* indices,
                     const Launch& launch, const char* what) {
  if (launch.check_while_moving) {
    device.device->complete_verdict(plan, indices, launch);
  }
  device.device->check_launches(what);
}

void wait(const Queue& queue) {
  if (const Backend* const backend = prepared_device(queue)) {
    backend->device->wait(nullptr, queue.stream);
  }
}

void finish(const Plan& plan, const Queue& queue) {
  const Backend* const backend = prepared_device(queue);
  if (backend == nullptr) {
    return;
  }
  const bool fails = plan.nest().out_of_range == OutOfRange::kFail;
  if (fails && (queue.workspace.memory == nullptr || queue.workspace.bytes < sizeof(Verdict))) {
    refuse(plan.request(), {Reason::kMemory}, "no verdict to read",
           "under the rule fail a run leaves it in its workspace, and this one has no room for it",
           "the workspace that the run was given");
  }
  const auto* on_device = fails ? static_cast<const Verdict*>(queue.workspace.memory) : nullptr;
  const Verdict verdict = backend->device->wait(on_device, queue.stream);
  if (fails && verdict.bad != 0) {
    throw_bad_index(plan, bad_index(plan, verdict));
  }
  if (fails && verdict.met != 0) {
    throw_indices_changed(plan);
  }
}

}  // namespace sheaf
