// SPDX-License-Identifier: MIT
//
// The check of all indices before anything is written: the index tensor is walked once, however
// often the nest reads it.
#include <algorithm>
#include <atomic>
#include <span>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/movers/routines.h"
#include "backends/cpu/parallel.h"

namespace sheaf::cpu {
bool all_in_range(const Plan& plan, const std::byte* indices, const Launch& launch) {
  const Nest& nest = plan.nest();
  std::span<const IndexLoop> outer(nest.index_loops.begin(), nest.index_loops.end());
  IndexLoop inner{1, 0};
  if (!outer.empty()) {
    inner = outer.back();
    outer = outer.first(outer.size() - 1);
  }
  if (outer.empty() && inner.extent <= kWalk.undivided_tuples) {
    return routines().check(nest, indices, inner.stride, inner.extent);
  }
  int64_t runs = 1;
  for (const IndexLoop& loop : outer) {
    runs *= loop.extent;
  }
  if (runs == 0 || inner.extent == 0) {
    return true;
  }
  constexpr int64_t kPiece = kWalk.thread_tuples;
  const int64_t pieces = (inner.extent - 1) / kPiece + 1;
  const int64_t bytes = runs * inner.extent * nest.coordinates.size() * nest.index_type.bytes();
  std::atomic<bool> good{true};
  parallel_ranges(
      runs * pieces, worthwhile_threads(bytes, launch.threads), [&](int64_t begin, int64_t end) {
        CancelPoint cancel(launch.cancel);
        for (int64_t at = begin; at < end && good.load(std::memory_order_relaxed); ++at) {
          if (cancel.before_rows(std::min(kPiece, inner.extent), 0)) {
            return;
          }
          const int64_t first = at % pieces * kPiece;
          int64_t run = at / pieces;
          int64_t element = first * inner.stride;
          for (size_t l = outer.size(); l-- > 0;) {
            element += run % outer[l].extent * outer[l].stride;
            run /= outer[l].extent;
          }
          if (!routines().check(nest, indices + element * nest.index_type.bytes(), inner.stride,
                                std::min(kPiece, inner.extent - first))) {
            good.store(false, std::memory_order_relaxed);
          }
        }
      });
  return good.load();
}

}  // namespace sheaf::cpu
