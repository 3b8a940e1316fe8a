// SPDX-License-Identifier: MIT
//
// Built instead of backends/cuda where nvcc is missing, or not wanted.
#include "execution/backend.h"

namespace sheaf {

const Backend* cuda_backend();
const Backend* cuda_backend() { return nullptr; }

}  // namespace sheaf
