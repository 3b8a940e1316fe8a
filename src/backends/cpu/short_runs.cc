// SPDX-License-Identifier: MIT
#include "backends/cpu/short_runs.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "backends/cpu/movers/routines.h"
#include "execution/cancel.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 30;
constexpr int64_t kZerosBehind = 64;

}  // namespace

int64_t runs_together(const Loop& outer, const Loop& inner, int64_t row_bytes) {
  // Movers are asked about empty outputs too.
  if (inner.extent == 0 || row_bytes == 0 || inner.extent > kShortRuns.points ||
      row_bytes > kShortRuns.bytes / inner.extent || outer.extent < kShortRuns.least_runs) {
    return 1;
  }
  // In distances within the tensors, which cannot overflow.
  const bool follow = inner.index != 0 &&
                      outer.index - inner.index == (inner.extent - 1) * inner.index &&
                      outer.output - inner.output == (inner.extent - 1) * inner.output;
  const int64_t step = std::abs(outer.data);
  const int64_t within = std::abs(inner.data);
  if (!follow || step >= kFarthest / 2 || within >= kFarthest / 2 / inner.extent) {
    return 1;
  }
  const int64_t points = std::min(kBlock, CancelPoint::kPieceBytes / row_bytes);
  const int64_t reach = step == 0 ? outer.extent : kFarthest / 2 / step;
  return std::max<int64_t>(1, std::min({points / inner.extent, outer.extent, reach}));
}

std::unique_ptr<int32_t[]> places_in_runs(const Loop& outer, const Loop& inner, int64_t runs) {
  const int64_t points = runs * inner.extent;
  std::unique_ptr<int32_t[]> places(new (std::nothrow)
                                        int32_t[static_cast<size_t>(points + kZerosBehind)]);
  if (places == nullptr) {
    return places;
  }
  int32_t* at = places.get();
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t i = 0; i < inner.extent; ++i) {
      *at++ = static_cast<int32_t>(run * outer.data + i * inner.data);
    }
  }
  std::fill_n(at, kZerosBehind, 0);
  return places;
}

}  // namespace sheaf::cpu
