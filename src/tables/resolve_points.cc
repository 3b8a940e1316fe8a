// SPDX-License-Identifier: MIT
#include "tables/resolve_points.h"

#include <algorithm>
#include <atomic>

#include "execution/host_steps.h"
#include "io/points.h"
#include "plan/resolve.h"

namespace sheaf::tables {
namespace {

// To resolve a point costs as much as to move so many bytes.
constexpr int64_t kBytesOfAPoint = 32;

}  // namespace

bool resolve_points(const Nest& nest, const std::byte* indices, int64_t first,
                    std::span<int64_t> offsets, int threads) {
  std::atomic<bool> outside = false;
  const auto resolve_range = [&](int64_t begin, int64_t end) {
    io::Points points(nest, indices);
    points.seek(first + begin);
    points.next_data(offsets.data() + begin, end - begin);
    const auto mine = offsets.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    if (std::ranges::find(mine, kOutside) != mine.end()) {
      outside = true;
    }
  };
  const auto count = std::ssize(offsets);
  run_ranges("gather", count, count * kBytesOfAPoint, {.threads = threads},
             std::cref(resolve_range));
  return outside;
}

}  // namespace sheaf::tables
