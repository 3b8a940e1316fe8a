// SPDX-License-Identifier: MIT
//
// Running a gather of an encoded table: the last checks, then the first kernel that accepts.
#include "execution/backend.h"
#include "execution/check_tensors.h"
#include "execution/launch.h"
#include "execution/registry.h"
#include "plan/index_error.h"
#include "support/float_mode.h"

namespace sheaf {
namespace {

struct EncodedChoice {
  const Backend* backend = nullptr;
  const EncodedKernel* kernel = nullptr;

  Checks checks(const EncodedGatherPlan& plan) const {
    return plan.nest().nest.empty() ? Checks::kNever : kernel->checks;
  }
};

EncodedChoice choose_encoded(const EncodedGatherPlan& plan,
                             std::span<const Backend* const> backends, std::string_view asked) {
  std::string refusals;
  for (const Backend* backend : backends) {
    for (const EncodedKernel& kernel : backend->encoded) {
      if (!asked.empty() && asked != backend->name && asked != kernel.name) {
        continue;
      }
      const char* const why = kernel.refusal(plan.nest());
      if (why == nullptr) {
        return {backend, &kernel};
      }
      refusals += cat(refusals.empty() ? "" : "; ", kernel.name, " refuses: ", why);
    }
  }
  refuse_as(ErrorCode::kUnsupported, plan.decoded_gather().request(), {Reason::kKernel},
            "no such kernel",
            refusals.empty() ? cat("\"", asked, "\" names no kernel for encoded tables") : refusals,
            "another kernel; sheaf doctor lists the backends");
}

EncodedChoice choose_on_device(const EncodedGatherPlan& plan, const Queue& queue,
                               std::string_view asked) {
  const Backend& device = *prepared_device(queue);
  if (device.encoded.empty()) {
    refuse_as(ErrorCode::kUnsupported, plan.decoded_gather().request(), {Reason::kKernel},
              "no encoded tables on this device",
              cat("the backend \"", queue.device, "\" has no kernel that decodes"),
              "memory of the host");
  }
  const Backend* const backends[] = {&device};
  return choose_encoded(plan, backends, asked);
}

EncodedBuffers buffers_of(const EncodedGatherMemory& memory) {
  return {
      {static_cast<const std::byte*>(memory.stored), static_cast<const std::byte*>(memory.scales),
       static_cast<const std::byte*>(memory.zeros)},
      static_cast<const std::byte*>(memory.indices),
      static_cast<std::byte*>(memory.output)};
}

void check_memory(const EncodedGatherPlan& plan, const EncodedGatherMemory& memory) {
  const EncodedSpec& data = plan.data();
  const Plan& named = plan.decoded_gather();
  const NamedTensor inputs[] = {{"data", memory.stored, &data.stored},
                                {"scales", memory.scales, spec_or_null(data.scales)},
                                {"zeros", memory.zeros, spec_or_null(data.zeros)},
                                {"indices", memory.indices, &named.indices()}};
  check_tensors(named.request(), inputs, {"output", memory.output, &named.output()});
}

void decode_on_host(const EncodedGatherPlan& plan, const EncodedBuffers& buffers,
                    const Queue& queue, const RunOptions& options) {
  const Plan& named = plan.decoded_gather();
  const EncodedChoice choice = choose_encoded(plan, host_backends(), options.kernel);
  Launch launch = host_launch(queue);
  check_before(named, *choice.backend, choice.checks(plan), buffers.indices,
               options.output_is_fresh, launch);
  if (plan.nest().nest.empty()) {
    return;
  }
  const DefaultFloatMode mode;
  const bool good = choice.kernel->run(plan.nest(), buffers, launch);
  throw_if_cancelled(launch.cancel, named.request());
  if (!good) {
    throw_bad_index_met(named, buffers.indices);
  }
}

// The workspace holds the verdict on the indices, where the rule is kFail. Stored bytes and scales
// are read byte by byte.
void start_decoding(const EncodedGatherPlan& plan, const EncodedBuffers& buffers,
                    const Queue& queue, const RunOptions& options) {
  const Plan& named = plan.decoded_gather();
  const EncodedChoice choice = choose_on_device(plan, queue, options.kernel);
  const DeviceSteps& device = *choice.backend->device;
  check_alignment(named, device, "indices", named.indices().dtype, buffers.indices);
  check_alignment(named, device, "output", named.output().dtype, buffers.output);
  Launch launch = device_launch(named, queue, workspace_layout(named, 0));
  check_before(named, *choice.backend, choice.checks(plan), buffers.indices,
               options.output_is_fresh, launch);
  if (!plan.nest().nest.empty()) {
    choice.kernel->run(plan.nest(), buffers, launch);
  }
  finish_launches(named, *choice.backend, buffers.indices, launch, "starting a gather");
}

}  // namespace

void run(const EncodedGatherPlan& plan, const EncodedGatherMemory& memory, const Queue& queue,
         const RunOptions& options) {
  check_memory(plan, memory);
  (queue.device.empty() ? decode_on_host : start_decoding)(plan, buffers_of(memory), queue,
                                                           options);
}

void finish(const EncodedGatherPlan& plan, const Queue& queue) {
  finish(plan.decoded_gather(), queue);
}

size_t workspace_bytes(const EncodedGatherPlan& plan, const Queue& queue,
                       const RunOptions& options) {
  if (queue.device.empty()) {
    return 0;
  }
  choose_on_device(plan, queue, options.kernel);
  return workspace_layout(plan.decoded_gather(), 0).bytes;
}

void EncodedGatherPlan::run(const EncodedGatherMemory& memory, const RunOptions& options) const {
  sheaf::run(*this, memory, {.threads = options.threads}, options);
}

}  // namespace sheaf
