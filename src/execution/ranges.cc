// SPDX-License-Identifier: MIT
#include "execution/ranges.h"

#include "execution/registry.h"

namespace sheaf {

void run_ranges(int64_t count, int64_t bytes, const Queue& queue,
                const std::function<void(int64_t, int64_t)>& work) {
  for (const Backend* backend : host_backends()) {
    if (backend->ranges != nullptr) {
      return backend->ranges(count, bytes, queue.threads, work);
    }
  }
  work(0, count);
}

}  // namespace sheaf
