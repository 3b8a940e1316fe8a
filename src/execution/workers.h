// SPDX-License-Identifier: MIT
#pragma once

#include "sheaf/workers.h"

namespace sheaf {

// Those of the calling thread's scope; null: the library's own threads.
const Workers* current_workers();

}  // namespace sheaf
