// SPDX-License-Identifier: MIT
//
// Running a planned permutation. On a device its workspace holds the verdict on the experts, then
// what the backend wants.
#include <cstring>

#include "execution/backend.h"
#include "execution/check_tensors.h"
#include "execution/launch.h"
#include "sheaf/queue.h"

namespace sheaf {
namespace {

constexpr size_t kVerdictBytes = 256;  // the workspace of the backend is aligned to as many

const Backend& device_with_moe(const MoePlan& plan, const Queue& queue) {
  const Backend& backend = *prepared_device(queue);
  const char* const why =
      backend.moe == nullptr ? "it has no kernels for them" : backend.moe->refusal(plan.nest());
  if (why != nullptr) {
    throw Error(refusal_of(plan.request(), ErrorCode::kUnsupported, {Reason::kKernel},
                           "no such mixture of experts on this device",
                           cat("the backend \"", queue.device, "\" refuses: ", why),
                           "memory of the host"));
  }
  return backend;
}

struct MoeTensors {
  TensorSpec rows, sources, inverse, offsets;

  explicit MoeTensors(const MoePlan& plan) {
    const MoeNest& nest = plan.nest();
    Dims sizes = plan.tokens().sizes;
    sizes[0] = nest.count;
    rows = TensorSpec(plan.tokens().dtype, sizes);
    sources = TensorSpec(i64, {nest.count});
    inverse = TensorSpec(i64, plan.experts().sizes);
    offsets = TensorSpec(i64, {nest.experts + 1});
  }
};

// Outputs must not overlap inputs, nor one another.
void check_moe_memory(const MoePlan& plan, const MoeMemory& memory) {
  const MoeTensors of(plan);
  const auto if_wanted = [](const void* pointer, const TensorSpec& spec) {
    return pointer == nullptr ? nullptr : &spec;
  };
  std::vector<NamedTensor> before{{"tokens", memory.tokens, if_wanted(memory.rows, plan.tokens())},
                                  {"experts", memory.experts, &plan.experts()}};
  for (const NamedTensor& output :
       {NamedTensor{"offsets", memory.offsets, &of.offsets},
        NamedTensor{"inverse", memory.inverse, &of.inverse},
        {"rows", memory.rows, if_wanted(memory.rows, of.rows)},
        {"sources", memory.sources, if_wanted(memory.sources, of.sources)}}) {
    if (output.spec != nullptr) {
      check_tensors(plan.request(), before, output);
      before.push_back(output);
    }
  }
}

MoeBuffers buffers_of(const MoeMemory& memory) {
  return {static_cast<const std::byte*>(memory.experts),
          memory.rows == nullptr ? nullptr : static_cast<const std::byte*>(memory.tokens),
          static_cast<std::byte*>(memory.rows),
          static_cast<int64_t*>(memory.sources),
          static_cast<int64_t*>(memory.inverse),
          static_cast<int64_t*>(memory.offsets)};
}

void check_moe_workspace(const MoePlan& plan, const Queue& queue, size_t needed) {
  const WorkspaceView& workspace = queue.workspace;
  if (workspace.bytes < needed || workspace.memory == nullptr ||
      reinterpret_cast<uintptr_t>(workspace.memory) % kVerdictBytes != 0) {
    refuse(plan.request(), {Reason::kMemory}, "workspace too small, or misaligned",
           cat("the workspace has ", workspace.memory == nullptr ? 0 : workspace.bytes,
               " bytes, but the plan needs ", needed, " at a multiple of ", kVerdictBytes),
           cat("as many bytes as workspace_bytes(plan) returns, on device ", queue.device));
  }
}

void start_permuting(const MoePlan& plan, const MoeMemory& memory, const Queue& queue) {
  const Backend& device = device_with_moe(plan, queue);
  check_moe_workspace(plan, queue, kVerdictBytes + device.moe->workspace_bytes(plan.nest()));
  const Plan& check = plan.check();
  const MoeBuffers buffers = buffers_of(memory);
  check_alignment(check, *device.device, "experts", plan.experts().dtype, buffers.experts);
  for (const void* const output : {memory.sources, memory.inverse, memory.offsets}) {
    check_alignment(check, *device.device, "output", i64, output);
  }
  auto* const workspace = static_cast<std::byte*>(queue.workspace.memory);
  const Launch launch{.stream = queue.stream,
                      .verdict = reinterpret_cast<Verdict*>(workspace),
                      .workspace = workspace + kVerdictBytes};
  device.check(check, buffers.experts, launch);
  device.moe->run(plan.nest(), buffers, launch);
  submit(*device.device, launch.stream, "starting a permutation");
}

void copy_out(void* to, const Array& from) {
  const ConstTensor tensor = from.tensor();
  const auto bytes = element_count(tensor.spec.sizes) * tensor.spec.dtype.bytes();
  if (to != nullptr && bytes > 0) {
    std::memcpy(to, tensor.data, static_cast<size_t>(bytes));
  }
}

void permute_on_host(const MoePlan& plan, const MoeMemory& memory, const RunOptions& options) {
  const MoeRouting routing =
      moe_route({memory.experts, plan.experts()}, plan.request().options, options);
  if (memory.rows != nullptr) {
    const ConstTensor sources = routing.sources.tensor();
    const Plan rows = plan_gather(plan.tokens(), sources.spec,
                                  GatherOptions{.rule = {.out_of_range = OutOfRange::kTrust}});
    rows.run(memory.tokens, sources.data, memory.rows, options);
  }
  copy_out(memory.sources, routing.sources);
  copy_out(memory.inverse, routing.inverse);
  copy_out(memory.offsets, routing.offsets);
}

}  // namespace

void run(const MoePlan& plan, const MoeMemory& memory, const Queue& queue,
         const RunOptions& options) {
  check_moe_memory(plan, memory);
  if (queue.device.empty()) {
    permute_on_host(plan, memory, options);
  } else {
    start_permuting(plan, memory, queue);
  }
}

void finish(const MoePlan& plan, const Queue& queue) {
  if (queue.device.empty()) {
    return;
  }
  const Backend& device = device_with_moe(plan, queue);
  check_moe_workspace(plan, queue, kVerdictBytes);
  const Verdict verdict =
      device.device->wait(static_cast<const Verdict*>(queue.workspace.memory), queue.stream);
  const DType type = plan.experts().dtype;
  if (verdict.bad != 0) {
    throw_bad_expert(plan.request(), plan.nest().experts, static_cast<int64_t>(~verdict.not_first),
                     type == u64 ? std::to_string(verdict.value)
                                 : std::to_string(static_cast<int64_t>(verdict.value)),
                     static_cast<int64_t>(verdict.bad));
  }
  if (verdict.met != 0) {
    throw IndexError(
        refusal_of(plan.request(), ErrorCode::kIndexOutOfRange, {Reason::kIndex, "experts"},
                   "expert out of range",
                   "an expert was out of range when it was read for the second time: experts "
                   "changed while the call ran",
                   "experts that nothing writes to during a call"),
        Dims(2, 0), 1);
  }
}

size_t workspace_bytes(const MoePlan& plan, const Queue& queue, const RunOptions& /*options*/) {
  if (queue.device.empty()) {
    return 0;
  }
  return kVerdictBytes + device_with_moe(plan, queue).moe->workspace_bytes(plan.nest());
}

}  // namespace sheaf
