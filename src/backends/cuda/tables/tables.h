// SPDX-License-Identifier: MIT
//
// What tables ask of this backend beside its plans: rows that move inside the device, and rows that
// are kept there and looked up there (execution/cache_sets.h).
#pragma once

#include "execution/staging.h"

namespace sheaf::cuda {

// numbered_rows.cu
void move_numbered_rows(const NumberedRows& rows, void* stream);

// cached_rows.cu
extern const CacheSteps kCacheSteps;

}  // namespace sheaf::cuda
