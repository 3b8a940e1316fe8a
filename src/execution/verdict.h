// SPDX-License-Identifier: MIT
//
// The verdict on a run's indices under kFail. On the host it is known when the check returns; on a
// device it is enqueued like everything else, and read by finish().
#pragma once

#include "execution/backend.h"
#include "sheaf/queue.h"

namespace sheaf {

// Before a kernel runs: has all indices checked, unless the kernel does it. Throws IndexError where
// the answer is known at once.
void check_before(const Plan& plan, const Backend& backend, Checks kernel_checks,
                  const std::byte* indices, bool output_is_fresh, Launch& launch);

// After the last step of a run on a device: completes the verdict and looks for failed launches.
void finish_launches(const Plan& plan, const Backend& device, const std::byte* indices,
                     const Launch& launch, const char* what);

// Throws IndexError for the first bad index of host memory. If there is none any more, since
// another thread has changed the indices, throws IndexError saying so.
[[noreturn]] void throw_bad_index_met(const Plan& plan, const void* indices);

}  // namespace sheaf
