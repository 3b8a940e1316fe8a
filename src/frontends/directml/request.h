// SPDX-License-Identifier: MIT
//
// From DirectML's padded shapes to a Request with the real ones: DirectML pads all tensors of an
// operator to the same DimensionCount with leading ones.
#pragma once

#include "frontends/directml/descriptors.h"
#include "plan/request.h"

namespace sheaf::dml::detail {

// DirectML's rule for indices: a negative one counts from the end, and none fails.
inline constexpr IndexRule kIndexRule{.negative = Negative::kFromEnd,
                                      .out_of_range = OutOfRange::kClamp};

// Refuses attributes and shapes that break the operator's rules, in DirectML's words.
Plan operator_plan(const OperatorDesc& op, const Tensors& tensors);

}  // namespace sheaf::dml::detail
