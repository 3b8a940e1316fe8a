// SPDX-License-Identifier: MIT
#pragma once

namespace sheaf {

// How a kernel can take part in checking indices under kFail.
enum class Checks {
  kNever,        // the driver checks all indices before the kernel runs
  kWhileMoving,  // it can report bad indices that it meets, for fresh outputs
  kFirst,        // it checks all indices itself before it writes anything
};

}  // namespace sheaf
