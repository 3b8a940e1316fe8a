// SPDX-License-Identifier: MIT
//
// The public ways to run a plan, the last checks, which need the pointers, and the driver of
// gathers.
#include "execution/run.h"

#include "execution/choice.h"
#include "execution/launch.h"
#include "plan/byte_ranges.h"
#include "plan/index_error.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

void check_pointer(const Plan& plan, const char* tensor, const void* pointer, ByteRange range) {
  if (pointer == nullptr && !range.empty()) {
    refuse(plan.request(), {Reason::kNull, tensor}, "null pointer",
           cat(tensor, " has elements, but its pointer is null"), "pass the tensor's memory");
  }
  const auto address = reinterpret_cast<intptr_t>(pointer);
  if (!checked_add(address, range.lo) || !checked_add(address, range.hi)) {
    refuse(plan.request(), {Reason::kTooLarge, tensor}, "tensor too large",
           cat("the strides of ", tensor, " lead from its pointer out of the address space"),
           "check the strides; they are in elements, not in bytes");
  }
}

void refuse_overlap(const Plan& plan, const char* tensor, const ConstTensor& input,
                    const ConstTensor& output) {
  if (may_overlap(input, output)) {
    refuse(plan.request(), {Reason::kMemory, "output"}, "output overlaps an input",
           cat("output and ", tensor, " share memory"), "a separate output, then copy it back");
  }
}

// Whether two tensors of equal type and sizes have their elements in the same places.
bool same_places(const ConstTensor& a, const ConstTensor& b) {
  bool same = a.data == b.data;
  for (int d = 0; d < a.spec.rank(); ++d) {
    same = same && used_stride(a.spec, d) == used_stride(b.spec, d);
  }
  return same;
}

void refuse_other_call(const Plan& plan, bool scatter) {
  if (plan.is_scatter() != scatter) {
    refuse(
        plan.request(), {Reason::kPlan}, "plan of another operator",
        cat("this is a ", plan.is_scatter() ? "scatter" : "gather", ", but it was run as a ",
            scatter ? "scatter" : "gather"),
        plan.is_scatter() ? "run(data, indices, updates, output)" : "run(data, indices, output)");
  }
}

void refuse_indices_in_output(const Plan& plan, const TensorMemory& memory) {
  const TensorRanges& ranges = plan.ranges();
  if (ranges_meet(memory.indices, ranges.indices, memory.output, ranges.output)) {
    refuse_overlap(plan, "indices", {memory.indices, plan.indices()},
                   {memory.output, plan.output()});
  }
}

void check_gather_memory(const Plan& plan, const TensorMemory& memory) {
  refuse_other_call(plan, false);
  const TensorRanges& ranges = plan.ranges();
  check_pointer(plan, "data", memory.data, ranges.data);
  check_pointer(plan, "indices", memory.indices, ranges.indices);
  check_pointer(plan, "output", memory.output, ranges.output);
  if (ranges_meet(memory.data, ranges.data, memory.output, ranges.output)) {
    refuse_overlap(plan, "data", {memory.data, plan.data()}, {memory.output, plan.output()});
  }
  refuse_indices_in_output(plan, memory);
}

Launch launch_on_device(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                        const Choice<GatherBuffers>& choice) {
  check_alignment(plan, *choice.backend->device, "indices", plan.indices().dtype, memory.indices);
  return device_launch(plan, queue, workspace_layout(plan, kernel_bytes(choice, plan.nest(), 0)));
}

}  // namespace

void check_indices_and_output(const Plan& plan, const TensorMemory& memory, bool same_memory) {
  refuse_other_call(plan, false);
  check_pointer(plan, "indices", memory.indices, plan.ranges().indices);
  check_pointer(plan, "output", memory.output, plan.ranges().output);
  if (same_memory) {
    refuse_indices_in_output(plan, memory);
  }
}

void check_indices(const Plan& plan, const void* indices) {
  refuse_other_call(plan, false);
  check_pointer(plan, "indices", indices, plan.ranges().indices);
}

void check_indices_and_updates(const Plan& plan, const TensorMemory& memory) {
  refuse_other_call(plan, true);
  check_pointer(plan, "indices", memory.indices, plan.ranges().indices);
  check_pointer(plan, "updates", memory.updates, plan.ranges().updates);
}

void check_scatter_memory(const Plan& plan, const TensorMemory& memory) {
  refuse_other_call(plan, true);
  const TensorRanges& ranges = plan.ranges();
  const ConstTensor output{memory.output, plan.output()};
  check_pointer(plan, "indices", memory.indices, ranges.indices);
  check_pointer(plan, "updates", memory.updates, ranges.updates);
  check_pointer(plan, "output", memory.output, ranges.output);
  refuse_overlap(plan, "indices", {memory.indices, plan.indices()}, output);
  refuse_overlap(plan, "updates", {memory.updates, plan.updates()}, output);
  if (!plan.request().onto_zeros) {
    const ConstTensor data{memory.data, plan.data()};
    check_pointer(plan, "data", memory.data, ranges.data);
    if (!same_places(data, output)) {
      refuse_overlap(plan, "data", data, output);
    }
  }
}

void start_gather(const Plan& plan, const TensorMemory& memory, const Queue& queue,
                  const RunOptions& options) {
  check_gather_memory(plan, memory);
  const Backend* const device = prepared_device(queue);
  const Nest& nest = plan.nest();
  const auto addresses =
      reinterpret_cast<uintptr_t>(memory.data) | reinterpret_cast<uintptr_t>(memory.output);
  const KernelQuery query{.nest = nest,
                          .addresses = addresses,
                          .plan = &plan,
                          .output = reinterpret_cast<uintptr_t>(memory.output),
                          .threads = queue.threads,
                          .stream = queue.stream};
  const Choice<GatherBuffers> choice = choose_gather(plan, query, device, options.kernel);
  const Backend& backend = *choice.backend;
  // Made in place: a copy right after it was written would wait for the writes.
  Launch launch =
      device == nullptr ? host_launch(queue) : launch_on_device(plan, memory, queue, choice);
  launch.plan = &plan;
  if (choice.kernel->movers != nullptr) {
    launch.mover = asked_mover(options.kernel);
  }
  const GatherBuffers buffers{static_cast<const std::byte*>(memory.data),
                              static_cast<const std::byte*>(memory.indices),
                              static_cast<std::byte*>(memory.output)};
  check_before(plan, backend, nest.empty() ? Checks::kNever : choice.kernel->checks,
               buffers.indices, options.output_is_fresh, launch);
  const bool good = nest.empty() || choice.kernel->run(nest, buffers, launch);
  throw_if_cancelled(launch.cancel, plan.request());
  if (!good) {
    throw_bad_index_met(plan, memory.indices);
  }
  if (device != nullptr) {
    finish_launches(plan, *device, buffers.indices, launch, "starting a gather");
  }
}

void run(const Plan& plan, const void* data, const void* indices, void* output, const Queue& queue,
         const RunOptions& options) {
  start_gather(plan, {data, indices, nullptr, output}, queue, options);
}

void run(const Plan& plan, const void* data, const void* indices, const void* updates, void* output,
         const Queue& queue, const RunOptions& options) {
  start_scatter(plan, {data, indices, updates, output}, queue, options);
}

void Plan::run(const void* data, const void* indices, void* output,
               const RunOptions& options) const {
  start_gather(*this, {data, indices, nullptr, output}, {.threads = options.threads}, options);
}

void Plan::run(const void* data, const void* indices, const void* updates, void* output,
               const RunOptions& options) const {
  start_scatter(*this, {data, indices, updates, output}, {.threads = options.threads}, options);
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const Tensor& output_tensor, const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, output_tensor.data, options);
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const ConstTensor& updates_tensor, const Tensor& output_tensor,
               const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "updates", updates_tensor.spec, updates());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, updates_tensor.data, output_tensor.data, options);
}

}  // namespace sheaf
