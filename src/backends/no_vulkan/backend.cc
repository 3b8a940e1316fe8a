// SPDX-License-Identifier: MIT
//
// Built instead of backends/vulkan where Vulkan's headers or glslc are missing, or not wanted.
#include "execution/backend.h"

namespace sheaf {

const Backend* vulkan_backend();
const Backend* vulkan_backend() { return nullptr; }

}  // namespace sheaf
