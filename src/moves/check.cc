// SPDX-License-Identifier: MIT
#include "moves/check.h"

#include "moves/convert.h"
#include "moves/moves.h"
#include "plan/byte_ranges.h"
#include "support/text.h"

namespace sheaf::moves {

void check_numbers(const char* who, const TensorSpec& spec) {
  if (!is_number(spec.dtype)) {
    refuse({who, "not a number", cat(spec.dtype.name(), " has no value to convert"), spec.str(),
            "an integer, a float or a bool"});
  }
}

void check_written(const char* who, const TensorSpec& to) {
  if (!byte_range(to) || !elements_disjoint(to)) {
    refuse({who, "output overlaps itself",
            cat("strides ", bracketed(to.strides), " place several elements in one spot"), to.str(),
            "an output whose strides keep its elements apart"});
  }
}

void check_same_sizes(const char* who, const TensorSpec& from, const TensorSpec& to) {
  if (from.sizes != to.sizes) {
    refuse({who, "shapes differ",
            cat("from is ", bracketed(from.sizes), ", but to is ", bracketed(to.sizes)),
            cat("from ", from.str(), "   to ", to.str()), "equal shapes"});
  }
}

void check_apart(const char* who, const void* from, const TensorSpec& from_spec, const void* to,
                 const TensorSpec& to_spec) {
  const auto read = byte_range(from_spec), written = byte_range(to_spec);
  if (from == nullptr || to == nullptr) {
    refuse({who, "null pointer", "a tensor has no memory",
            cat("from ", from_spec.str(), "   to ", to_spec.str()), "memory for every tensor"});
  }
  if (ranges_meet(from, *read, to, *written)) {
    refuse({who, "output overlaps an input", "the two share memory",
            cat("from ", from_spec.str(), "   to ", to_spec.str()), "memory of its own"});
  }
}

void check_reduced(const char* who, const char* name, const TensorSpec& spec,
                   const TensorSpec& whole, int64_t axis) {
  if (axis < 0 || axis >= whole.rank()) {
    refuse({who, "axis out of range", cat("axis = ", axis), whole.str(),
            cat("an axis from 0 to ", whole.rank() - 1)});
  }
  Dims sizes = whole.sizes;
  sizes[static_cast<int>(axis)] = 1;
  if (spec.sizes != sizes || !spec.dtype.is_integer()) {
    refuse(
        {who, cat(name, " does not fit"),
         cat(name, " is ", spec.str(), ", but integers of shape ", bracketed(sizes), " are needed"),
         whole.str(), cat(name, " of size 1 along the axis")});
  }
}

}  // namespace sheaf::moves
