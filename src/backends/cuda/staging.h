// SPDX-License-Identifier: MIT
//
// Feeding the device from the host piece by piece: DeviceSteps::staging.
#pragma once

#include "execution/staging.h"

namespace sheaf::cuda {

extern const StagingSteps kStagingSteps;

}  // namespace sheaf::cuda
