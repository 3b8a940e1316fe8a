// SPDX-License-Identifier: MIT
//
// What a scatter needs besides the shapes of the gather that it undoes.
#include "plan/infer.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

bool is_complex(DType type) { return type == c64 || type == c128; }

}  // namespace

void check_reduction(const Request& r) {
  const DType type = r.data.dtype;
  if (r.reduction > Reduction::kMean) {
    refuse(r, "unknown reduction",
           cat("reduction = ", static_cast<int>(r.reduction), ", but 0..6 have a meaning"),
           "one of the named reductions");
  }
  const bool ordered = r.reduction == Reduction::kMin || r.reduction == Reduction::kMax;
  const char* why = nullptr;
  if (type.kind() == Kind::kOpaque && r.reduction != Reduction::kNone) {
    why = "opaque elements are only ever copied";
  } else if (is_complex(type) && ordered) {
    why = "complex numbers have no order";
  } else if (type == boolean && r.reduction == Reduction::kMean) {
    why = "a bool cannot hold a mean";
  }
  if (why != nullptr) {
    refuse(r, "reduction does not fit the type",
           cat("reduction = ", to_string(r.reduction), " on ", type.name(), ": ", why),
           is_complex(type) ? "add, sub, mul, mean or none" : "another type, or reduction = none");
  }
}

void check_updates(const Request& r, const Dims& sizes) {
  if (r.updates.dtype != r.data.dtype) {
    refuse(r, "types differ",
           cat("updates is ", r.updates.dtype.name(), ", but data is ", r.data.dtype.name()),
           cat("updates of type ", r.data.dtype.name(), "; nothing is converted"));
  }
  if (r.updates.sizes != sizes) {
    refuse(
        r, "updates have the wrong shape",
        cat("updates is ", bracketed(r.updates.sizes), ", but this call takes ", bracketed(sizes)),
        cat("updates of shape ", bracketed(sizes)));
  }
}

}  // namespace sheaf
