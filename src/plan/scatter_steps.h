// SPDX-License-Identifier: MIT
//
// The steps of a scatter, decided when the plan is made. In order:
//   base      data, or zeros, are copied to the output (not if they are the same tensor)
//   start     without include_self, every element that an update goes to becomes `neutral`
//   the nest  updates are reduced (kMean adds up)
//   counts    for kMean: how many updates each element got; then the sums are divided
// Or, where narrow floats accumulate in f32, all of these on f32 copies: `wide`.
#pragma once

#include <optional>

#include "plan/request.h"

namespace sheaf {

struct MeanSteps {
  int64_t count_elements;  // of the tensor of counts, which are int64
  Nest count;              // adds ones into it
  Nest divide;             // from counts (as data) to the sums they divide (as output)
};

// A scatter of narrow floats by one of f32, whose data is also its output. Tensors are contiguous,
// except that dimensions along which updates repeat have a stride of 0.
struct WideSteps {
  Plan plan;
  int64_t data_elements, update_elements;  // that there has to be memory for
  Nest widen_data, widen_updates;          // from the narrow tensor (as data) to the wide one
  Nest narrow;                             // and back
};

struct ScatterSteps {
  Nest base;                  // data to output; no coordinates
  std::optional<Nest> start;  // the nest, without reduction, from one row over and over
  std::byte neutral[kMaxElementBytes] = {};  // an element of that row
  std::optional<MeanSteps> mean;
  std::optional<WideSteps> wide;  // then `start` and `mean` are empty: they are its plan's
};

// `request` has been inferred; `nest` is its normal form.
ScatterSteps scatter_steps(const Request& request, const Nest& nest);

}  // namespace sheaf
