// SPDX-License-Identifier: MIT
//
// What a scatter does besides its nest, decided when the plan is made. In order:
//   base      data, or zeros, are copied to the output (not if they are the same tensor)
//   start     without include_self, every element that an update goes to becomes `neutral`
//   the nest  updates are joined (kMean adds up)
//   counts    for kMean: how many updates each element got, then the division
#pragma once

#include <optional>

#include "plan/request.h"

namespace sheaf {

struct ScatterSteps {
  Nest base;                  // data to output; no coordinates
  std::optional<Nest> start;  // the nest, without reduction, from one row over and over
  std::byte neutral[kMaxElementBytes] = {};  // an element of that row
  std::optional<Nest> counts;                // adds a row of int64 ones into packed counts
};

// `request` has been inferred; `nest` is its normal form.
ScatterSteps scatter_steps(const Request& request, const Nest& nest);

}  // namespace sheaf
