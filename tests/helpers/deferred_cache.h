// SPDX-License-Identifier: MIT
//
// Cached rows that the deferred device looks up by itself.
#pragma once

#include <functional>

#include "execution/staging.h"

namespace sheaf {

// A step that runs when the stream is waited for (deferred_device.cc).
void enqueue_on(void* stream, std::function<void()> step);

extern const CacheSteps kDeferredCache;
void move_deferred_rows(const NumberedRows& rows, void* stream);

}  // namespace sheaf
