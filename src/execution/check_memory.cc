// SPDX-License-Identifier: MIT
//
// The last checks before a run: those that need the pointers.
#include "execution/run.h"
#include "plan/byte_ranges.h"
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
           cat("output and ", tensor, " share memory"), "an output of its own, then copy it back");
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

}  // namespace

void check_gather_memory(const Plan& plan, const TensorMemory& memory) {
  refuse_other_call(plan, false);
  const TensorRanges& ranges = plan.ranges();
  check_pointer(plan, "data", memory.data, ranges.data);
  check_pointer(plan, "indices", memory.indices, ranges.indices);
  check_pointer(plan, "output", memory.output, ranges.output);
  if (ranges_meet(memory.data, ranges.data, memory.output, ranges.output)) {
    refuse_overlap(plan, "data", {memory.data, plan.data()}, {memory.output, plan.output()});
  }
  if (ranges_meet(memory.indices, ranges.indices, memory.output, ranges.output)) {
    refuse_overlap(plan, "indices", {memory.indices, plan.indices()},
                   {memory.output, plan.output()});
  }
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

}  // namespace sheaf
