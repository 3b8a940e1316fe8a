// SPDX-License-Identifier: MIT
//
// The last checks before a run: those that need the pointers.
#include "plan/memory.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

void check_pointer(const Plan& plan, const char* tensor, const void* pointer, ByteRange range) {
  if (pointer == nullptr && !range.empty()) {
    refuse(plan.request(), "null pointer", cat(tensor, " has elements, but its pointer is null"),
           "pass the tensor's memory");
  }
  const auto address = reinterpret_cast<intptr_t>(pointer);
  if (!checked_add(address, range.lo) || !checked_add(address, range.hi)) {
    refuse(plan.request(), "tensor too large",
           cat("the strides of ", tensor, " lead from its pointer out of the address space"),
           "check the strides; they are in elements, not in bytes");
  }
}

void refuse_overlap(const Plan& plan, const char* tensor, const ConstTensor& input,
                    const ConstTensor& output) {
  if (may_overlap(input, output)) {
    refuse(plan.request(), "output overlaps an input", cat("output and ", tensor, " share memory"),
           "an output of its own, then copy it back");
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
        plan.request(), "plan of another operator",
        cat("this is a ", plan.is_scatter() ? "scatter" : "gather", ", but it was run as a ",
            scatter ? "scatter" : "gather"),
        plan.is_scatter() ? "run(data, indices, updates, output)" : "run(data, indices, output)");
  }
}

}  // namespace

void Plan::check_memory(const void* data_memory, const void* indices_memory,
                        const void* output_memory) const {
  refuse_other_call(*this, false);
  check_pointer(*this, "data", data_memory, data_range_);
  check_pointer(*this, "indices", indices_memory, indices_range_);
  check_pointer(*this, "output", output_memory, output_range_);
  if (ranges_meet(data_memory, data_range_, output_memory, output_range_)) {
    refuse_overlap(*this, "data", {data_memory, data()}, {output_memory, output()});
  }
  if (ranges_meet(indices_memory, indices_range_, output_memory, output_range_)) {
    refuse_overlap(*this, "indices", {indices_memory, indices()}, {output_memory, output()});
  }
}

void Plan::check_scatter_memory(const void* data_memory, const void* indices_memory,
                                const void* updates_memory, const void* output_memory) const {
  refuse_other_call(*this, true);
  check_pointer(*this, "indices", indices_memory, indices_range_);
  check_pointer(*this, "updates", updates_memory, updates_range_);
  check_pointer(*this, "output", output_memory, output_range_);
  refuse_overlap(*this, "indices", {indices_memory, indices()}, {output_memory, output()});
  refuse_overlap(*this, "updates", {updates_memory, updates()}, {output_memory, output()});
  if (!request_->onto_zeros) {
    check_pointer(*this, "data", data_memory, data_range_);
    if (!same_places({data_memory, data()}, {output_memory, output()})) {
      refuse_overlap(*this, "data", {data_memory, data()}, {output_memory, output()});
    }
  }
}

}  // namespace sheaf
