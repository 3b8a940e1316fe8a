// SPDX-License-Identifier: MIT
//
// Built instead of backends/cpu where Highway or oneTBB is missing.
#include "backends/backend.h"

namespace sheaf {

const Backend* cpu_backend() { return nullptr; }

}  // namespace sheaf
