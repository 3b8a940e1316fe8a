// SPDX-License-Identifier: MIT
//
// Running a bag on a device. Its workspace holds the verdict on the indices, where the rule is
// kFail, then what the check of the segments found, then what the kernel wants. finish() reads the
// first two.
#include <algorithm>

#include "execution/launch.h"
#include "execution/run_bag.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf {
namespace {

constexpr size_t kBagAlignment = 256;

size_t aligned_part(size_t bytes) {
  return (bytes + kBagAlignment - 1) / kBagAlignment * kBagAlignment;
}

bool has_segments(const BagNest& nest) { return nest.per_bag < 0; }

void check_bag_workspace(const BagPlan& plan, const Queue& queue, size_t needed) {
  const WorkspaceView& workspace = queue.workspace;
  if (workspace.bytes < needed || (workspace.memory == nullptr && needed > 0)) {
    refuse(plan.request(), {Reason::kMemory}, "workspace too small",
           cat("the workspace has ", workspace.memory == nullptr ? 0 : workspace.bytes,
               " bytes, but the plan needs ", needed),
           cat("as many bytes as workspace_bytes(plan) returns, on device ", queue.device));
  }
  if (needed > 0 && reinterpret_cast<uintptr_t>(workspace.memory) % kBagAlignment != 0) {
    refuse(plan.request(), {Reason::kMemory}, "misaligned workspace",
           cat("its address is not a multiple of ", kBagAlignment, " bytes"),
           "memory as the device's allocator returns it");
  }
}

// Rows of bytes are read byte by byte where they have to be.
void check_bag_alignment(const BagPlan& plan, const DeviceSteps& device, const BagMemory& memory) {
  const BagSpecs& specs = plan.request().specs;
  const auto check = [&](const char* name, const void* at, DType type) {
    const int64_t multiple = device.alignment(type);
    if (reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(multiple) != 0) {
      refuse(plan.request(), {Reason::kMemory}, "misaligned pointer",
             cat(name, " is ", type.name(), ", but its address is not a multiple of ", multiple,
                 " bytes, as the device needs"),
             "a copy of the tensor at an aligned address");
    }
  };
  const auto check_if = [&](const char* name, const void* at,
                            const std::optional<TensorSpec>& spec) {
    if (spec) {
      check(name, at, spec->dtype);
    }
  };
  check("data", memory.stored, specs.data.stored.dtype);
  check_if("indices", memory.indices, specs.indices);
  check_if("segments", memory.segments, specs.segments);
  check_if("weights", memory.weights, specs.weights);
  check("output", memory.output, plan.output().dtype);
}

const Backend& device_with_bags(const BagPlan& plan, const Queue& queue) {
  const Backend& backend = *prepared_device(queue);
  if (backend.bag.empty()) {
    refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kKernel}, "no bags on this device",
              cat("the backend \"", queue.device, "\" has no kernel for bags"),
              "memory of the host");
  }
  return backend;
}

BagChoice choose_on(const BagPlan& plan, const Backend& device, std::string_view asked) {
  const Backend* const backends[] = {&device};
  return choose_bag(plan, backends, asked);
}

// The first bad segment that any block found.
void throw_if_segments_bad(const BagPlan& plan, const SegmentFaults& faults) {
  const auto* const first =
      std::max_element(std::begin(faults.not_first), std::end(faults.not_first));
  if (*first != 0) {
    refuse_segment(plan, static_cast<int64_t>(~*first),
                   faults.value[first - std::begin(faults.not_first)]);
  }
}

SegmentFaults read_faults(const DeviceSteps& device, const std::byte* at, void* stream) {
  if (device.read_faults != nullptr) {
    return device.read_faults(reinterpret_cast<const SegmentFaults*>(at), stream);
  }
  SegmentFaults faults;
  device.download(&faults, at, sizeof faults);
  return faults;
}

}  // namespace

BagLayout bag_layout(const BagPlan& plan, const BagKernel* kernel) {
  BagLayout layout;
  layout.faults = plan.checked_gather() != nullptr ? aligned_part(sizeof(Verdict)) : 0;
  layout.kernel =
      layout.faults + (has_segments(plan.nest()) ? aligned_part(sizeof(SegmentFaults)) : 0);
  layout.bytes = layout.kernel;
  if (kernel != nullptr && kernel->workspace_bytes != nullptr) {
    layout.bytes += aligned_part(kernel->workspace_bytes(plan.nest()));
  }
  return layout;
}

void start_bag_on_device(const BagPlan& plan, const BagMemory& memory, const Queue& queue,
                         const RunOptions& options) {
  const BagNest& nest = plan.nest();
  const Backend& device = device_with_bags(plan, queue);
  const BagChoice choice = choose_on(plan, device, options.kernel);
  const BagLayout layout = bag_layout(plan, choice.kernel);
  check_bag_alignment(plan, *device.device, memory);
  check_bag_workspace(plan, queue, layout.bytes);
  auto* const workspace = static_cast<std::byte*>(queue.workspace.memory);
  const Plan* const gather = plan.checked_gather();
  Launch launch{.stream = queue.stream,
                .verdict = gather != nullptr ? reinterpret_cast<Verdict*>(workspace) : nullptr,
                .workspace = workspace + layout.kernel};
  const BagBuffers buffers{
      .data = {static_cast<const std::byte*>(memory.stored),
               static_cast<const std::byte*>(memory.scales),
               static_cast<const std::byte*>(memory.zeros)},
      .indices = static_cast<const std::byte*>(memory.indices),
      .weights = static_cast<const std::byte*>(memory.weights),
      .offsets = nullptr,
      .output = static_cast<std::byte*>(memory.output),
      .segments = static_cast<const std::byte*>(memory.segments),
      .faults = has_segments(nest) ? reinterpret_cast<SegmentFaults*>(workspace + layout.faults)
                                   : nullptr};
  if (gather != nullptr) {
    check_before(*gather, device, bag_checks(nest, *choice.kernel), buffers.indices,
                 options.output_is_fresh, launch);
  }
  if (nest.has_output()) {
    choice.kernel->run(nest, buffers, launch);
  } else if (has_segments(nest)) {
    device.check_segments(nest, buffers, launch);
  }
  if (gather != nullptr) {
    finish_launches(*gather, device, buffers.indices, launch, "starting a bag");
  } else {
    device.device->check_launches("starting a bag");
  }
}

void finish(const BagPlan& plan, const Queue& queue) {
  if (queue.device.empty()) {
    return;
  }
  const Backend& device = device_with_bags(plan, queue);
  const BagLayout layout = bag_layout(plan, nullptr);
  if (queue.workspace.bytes < layout.bytes ||
      (queue.workspace.memory == nullptr && layout.bytes > 0)) {
    refuse(plan.request(), {Reason::kMemory}, "no verdict to read",
           "a run leaves what it finds in its workspace, and this one has no room for it",
           "the workspace that the run was given");
  }
  device.device->wait(nullptr, queue.stream);
  if (has_segments(plan.nest())) {
    throw_if_segments_bad(
        plan, read_faults(*device.device,
                          static_cast<const std::byte*>(queue.workspace.memory) + layout.faults,
                          queue.stream));
  }
  if (plan.checked_gather() != nullptr) {
    finish(*plan.checked_gather(), queue);
  }
}

size_t workspace_bytes(const BagPlan& plan, const Queue& queue, const RunOptions& options) {
  if (queue.device.empty()) {
    return 0;
  }
  const Backend& device = device_with_bags(plan, queue);
  return bag_layout(plan, choose_on(plan, device, options.kernel).kernel).bytes;
}

}  // namespace sheaf
