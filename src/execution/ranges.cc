// SPDX-License-Identifier: MIT
#include "execution/ranges.h"

#include <algorithm>

#include "execution/cancel.h"
#include "execution/registry.h"

namespace sheaf {
namespace {

using Work = std::function<void(int64_t, int64_t)>;

void run_on_host(int64_t count, int64_t bytes, const Queue& queue, const Work& work) {
  for (const Backend* backend : host_backends()) {
    if (backend->ranges != nullptr) {
      return backend->ranges(count, bytes, queue.threads, work);
    }
  }
  work(0, count);  // a build without the cpu backend; GCOVR_EXCL_LINE
}

}  // namespace

void run_ranges(std::string_view who, int64_t count, int64_t bytes, const Queue& queue,
                const Work& work) {
  const CancelScope* scope = current_cancel_scope();
  if (scope == nullptr || count == 0) {
    return run_on_host(count, bytes, queue, work);
  }
  const int64_t item_bytes = std::max<int64_t>(1, bytes / count);
  const int64_t step = std::max<int64_t>(1, CancelPoint::kPieceBytes / item_bytes);
  run_on_host(count, bytes, queue, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end && !scope->cancelled(); at += std::min(step, end - at)) {
      work(at, at + std::min(step, end - at));
    }
  });
  throw_if_cancelled(scope, who);
}

}  // namespace sheaf
