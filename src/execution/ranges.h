// SPDX-License-Identifier: MIT
//
// Loops over host memory that are no plan, on the threads that plans run on.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sheaf/queue.h"

namespace sheaf {

// Calls work(begin, end) for ranges that cover [0, count) once, from at most queue.threads threads.
// `bytes` is what all of it costs: as much as moving them. Returns when all are done. `work` does
// not throw. Asks the caller's CancelScope between ranges, and throws kCancelled in the name of
// `who`; work whose single items are long asks by itself too, and returns early.
void run_ranges(std::string_view who, int64_t count, int64_t bytes, const Queue& queue,
                const std::function<void(int64_t, int64_t)>& work);

}  // namespace sheaf
