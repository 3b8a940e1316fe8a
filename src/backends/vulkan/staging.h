// SPDX-License-Identifier: MIT
//
// Host memory that the library's own device copies from, and copies in the order of a stream.
#pragma once

#include "execution/staging.h"

namespace sheaf::vulkan {

extern const StagingSteps kStagingSteps;

}  // namespace sheaf::vulkan
