// SPDX-License-Identifier: MIT
//
// A call on a file comes back to its indices: to mark blocks, to sort rows, to move them. It does
// so on a copy, so that each of the caller's indices is read once, and a walk finds what the walk
// before it found, whatever other threads write meanwhile.
#pragma once

#include <optional>

#include "sheaf/plan.h"

namespace sheaf::io {

class OwnIndices {
 public:
  OwnIndices(const Plan& plan, const void* indices);

  const Plan& plan() const { return *plan_; }  // the same call, on the copy
  const void* data() const { return copy_.tensor().data; }

 private:
  Array copy_;
  std::optional<Plan> plan_;
};

// A plan that copies all of a tensor, row-major: gather_nd by one tuple without components.
Plan copy_plan(const TensorSpec& from);

}  // namespace sheaf::io
