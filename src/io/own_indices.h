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

// Indices of which what repeats (stride 0) is there once, and the layout of a packed copy of those
// that reads as all of them.
TensorSpec distinct_elements(TensorSpec spec);
TensorSpec packed_like(const TensorSpec& spec);

// The plan with its indices in another layout.
Plan with_indices(const Plan& plan, const TensorSpec& indices);

// A plan that copies all of a tensor, row-major: gather_nd by one tuple without components.
Plan copy_plan(const TensorSpec& from);

}  // namespace sheaf::io
