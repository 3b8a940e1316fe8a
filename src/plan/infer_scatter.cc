// SPDX-License-Identifier: MIT
//
// What only scatters have: a reduction, and updates.
#include "plan/infer.h"
#include "plan/refuse.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf {

void check_reduction(const Request& r) {
  const DType type = r.data.dtype;
  if (find_row(kReductions, r.reduction) == nullptr) {
    refuse(r, {Reason::kReduction}, "unknown reduction",
           cat("reduction = ", static_cast<int>(r.reduction), ", but 0..", kReductions.size() - 1,
               " have a meaning"),
           "one of the named reductions");
  }
  if (const char* why = refusal_of_reduction(r.reduction, type)) {
    refuse(r, {Reason::kReduction}, "reduction does not fit the type",
           cat("reduction = ", to_string(r.reduction), " on ", type.name(), ": ", why),
           is_complex(type) ? "add, sub, mul, mean or none" : "another type, or reduction = none");
  }
  const bool small_float = type == f16 || type == bf16 || type == f8e4m3 || type == f8e5m2;
  if (r.accumulate_f32 && !small_float && type != f32) {
    refuse(r, {Reason::kReduction}, "nothing to accumulate in f32",
           cat("data is ", type.name(), ", but f16, bf16, f8e4m3 and f8e5m2 are rounded from f32"),
           "leave accumulate out");
  }
}

void check_updates(const Request& r, const Dims& sizes) {
  if (r.updates.dtype != r.data.dtype) {
    refuse(r, {Reason::kType, "updates"}, "types differ",
           cat("updates is ", r.updates.dtype.name(), ", but data is ", r.data.dtype.name()),
           cat("updates of type ", r.data.dtype.name(), "; nothing is converted"));
  }
  if (r.updates.sizes != sizes) {
    refuse(
        r, {Reason::kShape, "updates", -1, r.updates.sizes, sizes}, "updates have the wrong shape",
        cat("updates is ", bracketed(r.updates.sizes), ", but this call takes ", bracketed(sizes)),
        cat("updates of shape ", bracketed(sizes)));
  }
}

}  // namespace sheaf
